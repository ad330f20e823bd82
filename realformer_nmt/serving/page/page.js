// The form, and a card of translations for each model. Text is only ever set as text.
import { picture } from "./attention.js"
import { ask, make, refusal } from "./parts.js"

const [form, pair, models, text, beam, nbest, said, results] = ["form", "pair", "models", "text", "beam", "nbest", "said", "results"]
  .map(id => document.getElementById(id))
let asking = new AbortController()

const languages = model => `${model.source} \u2192 ${model.target}`
const about = model => [model.family, model.layers && `${model.layers.join("-")} layers`].filter(Boolean).join(", ")

function showModels(all) {
  const fitting = all.filter(model => languages(model) === pair.value)
  models.replaceChildren(...fitting.map((model, place) => {
    const box = make("input", { type: "checkbox", name: "model", value: model.name, checked: place < 2 })
    return make("label", {}, box, make("span", {}, model.name, " ", make("small", {}, about(model))))
  }))
}

function chosen(all) {
  const names = [...models.querySelectorAll("input:checked")].map(box => box.value)
  return all.filter(model => names.includes(model.name))
}

function sentence(found, model, show) {
  const source = found.text
  const hypotheses = found.hypotheses.map(hypothesis => {
    const words = make("span", { lang: model.target, dir: "auto" }, hypothesis.text || "\u2014")
    const button = make("button", { type: "button", ariaPressed: "false" }, words, make("small", {}, `score ${hypothesis.score.toFixed(2)}`))
    button.addEventListener("click", () => show(button, source, hypothesis.pieces))
    return make("li", {}, button)
  })
  return [make("p", { className: "source", lang: model.source, dir: "auto" }, source), make("ul", { className: "nbest" }, ...hypotheses)]
}

async function card(model, texts) {
  const title = make("h2", {}, model.name, " ", make("small", {}, about(model)))
  const attention = make("div")
  const article = make("article", { ariaLabel: model.name, ariaBusy: "true" }, title)
  const show = (button, source, pieces) => {
    article.querySelectorAll("[aria-pressed=true]").forEach(each => { each.ariaPressed = "false" })
    button.ariaPressed = "true"
    attention.replaceChildren(picture(model, source, pieces))
  }
  results.append(article)
  try {
    const options = { model: model.name, texts, split_sentences: true, beam: beam.valueAsNumber, nbest: nbest.valueAsNumber }
    const { translations, texts: translated } = await ask("translate", options, asking.signal)
    const whole = make("p", { className: "whole", lang: model.target, dir: "auto" }, translated.join("\n"))
    if (translations.length > 1) article.append(whole)
    const sentences = translations.filter(found => found.text)
    article.append(...sentences.flatMap(found => sentence(found, model, show)), attention)
    return true
  } catch (error) {
    article.append(refusal(error))
    return false
  } finally {
    article.ariaBusy = "false"
  }
}

async function translate(all) {
  const texts = text.value.trim() ? text.value.split("\n") : []
  const wanted = chosen(all)
  asking.abort()
  asking = new AbortController()
  results.replaceChildren()
  if (!texts.length || !wanted.length) {
    said.textContent = texts.length ? "Choose a model." : "Write a text."
    return
  }
  const { signal } = asking
  said.textContent = "Translating\u2026"
  const start = performance.now()
  const done = (await Promise.all(wanted.map(model => card(model, texts)))).filter(Boolean).length
  if (signal.aborted) return
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  said.textContent = `${done} of ${wanted.length} ${wanted.length > 1 ? "models" : "model"} translated, in ${seconds} seconds.`
}

try {
  const { models: all, limits } = await ask("models")
  pair.replaceChildren(...[...new Set(all.map(languages))].map(each => make("option", {}, each)))
  for (const number of [beam, nbest]) number.max = limits.most_beam
  beam.value = Math.min(5, limits.most_beam)
  pair.addEventListener("change", () => showModels(all))
  showModels(all)
  form.addEventListener("submit", event => {
    event.preventDefault()
    translate(all)
  })
  text.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
} catch (error) {
  said.replaceChildren(refusal(error))
}
