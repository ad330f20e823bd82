// What the parts of the page share.

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

// What the server answers; its refusals are errors
export async function ask(path, body, signal) {
  const request = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal }
  const response = await fetch(path, request)
  const found = await response.json()
  if (!response.ok) throw new Error(found.error)
  return found
}

export function refusal(error) {
  const gone = error instanceof TypeError ? "The server does not answer: is it running?" : error.message
  return make("p", { className: "refused", role: "alert" }, gone)
}
