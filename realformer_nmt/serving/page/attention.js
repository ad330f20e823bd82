// The attention of one translation: a picture of a layer and head, whose edges are the pieces.
import { ask, make, refusal } from "./parts.js"

const CHAINS = ["encoder-decoder", "encoder", "decoder"]
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }

function choice(label, owner, values) {
  const select = make("select", { ariaLabel: `${label} of ${owner}` }, ...values.map(each => make("option", {}, each)))
  return [make("p", { className: "field" }, make("label", {}, label, " ", select)), select]
}

function refill(select, values) {
  const before = select.value
  select.replaceChildren(...values.map(each => make("option", {}, each)))
  if (values.includes(before)) select.value = before
}

function numbers(count) {
  return Array.from({ length: count }, (_, place) => String(place + 1))
}

function head(weights, chosen) {
  if (chosen !== "mean") return weights[chosen - 1]
  return weights[0].map((row, y) => row.map((_, x) => weights.reduce((sum, each) => sum + each[y][x], 0) / weights.length))
}

function matrix(found, rows, label, tell) {
  const heads = found.keys.map(key => make("th", { scope: "col", title: key }, make("span", {}, key)))
  const lines = rows.map((row, y) => make("tr", {}, make("th", { scope: "row" }, found.queries[y]), ...row.map((weight, x) => {
    const cell = make("td", { tabIndex: x || y ? -1 : 0, title: `${found.queries[y]} \u2192 ${found.keys[x]}: ${weight.toFixed(2)}` })
    cell.ariaLabel = weight.toFixed(2)
    cell.style.setProperty("--weight", weight)
    return cell
  })))
  const table = make("table", { ariaLabel: label }, make("thead", {}, make("tr", {}, make("td"), ...heads)), make("tbody", {}, ...lines))
  for (const event of ["focusin", "mouseover"]) {
    table.addEventListener(event, ({ target }) => { if (target.matches("tbody td")) tell(target.title) })
  }
  table.addEventListener("keydown", move)
  return table
}

// By the arrows from cell to cell
function move(event) {
  const step = STEPS[event.key]
  if (!step || !event.target.matches("tbody td")) return
  event.preventDefault()
  const row = event.target.parentElement
  const next = row.parentElement.rows[row.sectionRowIndex + step[0]]?.cells[event.target.cellIndex + step[1]]
  if (!next?.matches("td")) return
  event.target.tabIndex = -1
  next.tabIndex = 0
  next.focus()
}

export function picture(model, text, pieces) {
  const [chains, chain] = choice("Chain", model.name, CHAINS)
  const [layers, layer] = choice("Layer", model.name, ["1"])
  const [heads, which] = choice("Head", model.name, ["mean"])
  const box = make("div", { className: "box" })
  const told = make("output")
  const hint = make("p", { className: "note" }, "A row attends to the columns. Arrow keys go from cell to cell.")
  let found = null
  const draw = () => {
    const label = `${model.name}, ${chain.value} attention, layer ${layer.value}, head ${which.value}`
    box.replaceChildren(matrix(found, head(found.weights, which.value), label, words => { told.value = words }))
  }
  const load = async () => {
    const asked = { model: model.name, text, pieces, chain: chain.value, layer: Number(layer.value) }
    const current = () => asked.chain === chain.value && asked.layer === Number(layer.value) // still, when an answer comes
    found = null
    try {
      const came = await ask("attention", asked)
      if (!current()) return
      found = came
      refill(layer, numbers(found.layers))
      refill(which, ["mean", ...numbers(found.weights.length)])
      draw()
    } catch (error) {
      if (current()) box.replaceChildren(refusal(error))
    }
  }
  chain.addEventListener("change", () => {
    layer.replaceChildren(make("option", {}, "1")) // the other side may have fewer
    load()
  })
  layer.addEventListener("change", load)
  which.addEventListener("change", () => { if (found) draw() }) // an answer on its way draws it, too
  load()
  return make("div", { className: "attention" }, make("div", { className: "choices" }, chains, layers, heads), box, told, hint)
}
