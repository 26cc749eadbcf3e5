// Search runs in a worker, which browsers refuse to a page that was opened from disk. There a hidden frame stands in for
// it: it shares this page's origin, takes its messages as events, and answers through a postMessage of its own.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      this.frame.srcdoc = `<script src="${new URL(url, document.baseURI)}"></script>`;
      this.ready = new Promise((done) => this.frame.addEventListener("load", done, { once: true })).then(() => {
        this.frame.contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      });
      document.documentElement.append(this.frame);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
