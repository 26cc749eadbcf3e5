"""What a run can measure of heads beside their scores, a file each; they are found by being here."""
