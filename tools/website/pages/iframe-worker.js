// A browser starts no worker for a page that is opened from a disk. Search then runs in a hidden frame of the page.
// The theme looks for this name.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      this.loaded = new Promise((resolve) => {
        const inside = this.frame.contentWindow
        inside.postMessage = (data) => this.answer(data)
        const script = inside.document.createElement("script")
        script.src = address
        script.onload = resolve
        inside.document.head.append(script)
      })
    }
    answer(data) {
      const event = new MessageEvent("message", { data })
      this.dispatchEvent(event)
      if (this.onmessage) this.onmessage(event)
    }
    async postMessage(data) {
      await this.loaded
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
    }
    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
