// The API's description, with examples that run.
import { html, render, useEffect, useState } from "../vendor/preact-htm.js";

const DESCRIPTION = "/api/v1/openapi.json";

function Page() {
  const [api, setApi] = useState(null);
  const [trouble, setTrouble] = useState(null);
  const [known, setKnown] = useState({}); // from answers, such as a game's id
  useEffect(() => {
    fetch(DESCRIPTION).then((answer) => answer.json())
      .then(setApi, () => setTrouble("kedge does not answer; is it still running?"));
  }, []);
  if (!api) return html`<main class="api"><p role="alert">${trouble}</p></main>`;
  const routes = routesOf(api);
  const tags = [...new Set(routes.map((route) => route.tag))];
  // The examples use the last game, until it is deleted.
  const learn = ({ method, path }, answer) => {
    if (method === "DELETE" && path.endsWith("/sessions/{id}")) setKnown({});
    else if (answer?.id && (path.endsWith("/sessions") || !known.id)) setKnown({ id: answer.id });
  };
  return html`
    <header class="top"><a class="brand" href="/"><img src="/static/icon.svg" alt="" width="22" height="22" />kedge</a>
      <nav aria-label="Parts of the API">${tags.map((tag) => html`<a key=${tag} href=${`#${anchor(tag)}`}>${tag}</a>`)}</nav></header>
    <main class="api">
      <h1>API, version ${api.info.version}</h1>
      <p class="lead"><${Words} text=${api.info.description} />
        ${" "}Machines read <a href=${DESCRIPTION}>openapi.json</a>.</p>
      ${tags.map((tag) => html`
        <section key=${tag} aria-labelledby=${anchor(tag)}>
          <h2 id=${anchor(tag)}>${tag}</h2>
          ${routes.filter((route) => route.tag === tag).map((route) => html`
            <${Route} key=${route.method + route.path} route=${route} api=${api} known=${known} onAnswer=${(answer) => learn(route, answer)} />`)}
        </section>`)}
    </main>`;
}

function routesOf(api) {
  return Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, route]) => ({
    method: method.toUpperCase(), path, tag: route.tags?.[0] || "others", words: route.description || route.summary,
    parameters: route.parameters || [], body: route.requestBody?.content["application/json"]?.schema,
    answer: Object.entries(route.responses).find(([code]) => code < 300),
  }))).sort((first, second) => (first.method === "DELETE") - (second.method === "DELETE")); // deletions last
}

function Route({ route, api, known, onAnswer }) {
  const { method, path, words, parameters, body, answer } = route;
  const [values, setValues] = useState({});
  const [text, setText] = useState(body ? JSON.stringify(exampleOf(body, api), null, 1) : "");
  const [reply, setReply] = useState(null);
  const examples = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.schema.examples?.[0]]));
  const value = (name) => values[name] ?? known[name] ?? examples[name] ?? "";
  const url = addressOf(route, value);
  const missing = parameters.find((parameter) => parameter.required && value(parameter.name) === "");
  const send = async (event) => {
    event.preventDefault();
    setReply(await request(method, url, body && text));
  };
  useEffect(() => { if (reply?.ok) onAnswer(reply.answer); }, [reply]);
  return html`
    <details class="route card">
      <summary><b class=${`method ${method.toLowerCase()}`}>${method}</b> <code>${path}</code>
        <span><${Words} text=${words.split("\n")[0]} /></span></summary>
      <p><${Words} text=${words} /></p>
      <form onSubmit=${send}>
        ${parameters.map((parameter) => html`
          <label key=${parameter.name}><span><code>${parameter.name}</code> ${parameter.in === "path" ? "in the path" : typeOf(parameter.schema, api)}
              <small> ${parameter.description || ""}</small></span>
            <input type="text" value=${value(parameter.name)} spellcheck="false" placeholder=${parameter.schema.default ?? ""}
              onInput=${(event) => setValues({ ...values, [parameter.name]: event.target.value })} /></label>`)}
        ${body && html`
          <label><span>Body</span>
            <textarea rows=${Math.min(14, text.split("\n").length)} spellcheck="false" value=${text}
              onInput=${(event) => setText(event.target.value)}></textarea></label>
          <${Fields} title="Fields of the body" schema=${body} api=${api} />`}
        <pre class="curl" tabindex="0" aria-label="The same on a command line">
          <code>${curl(method, url, body && text)}</code></pre>
        <p class="actions"><button type="submit" disabled=${Boolean(missing)}>Try</button>
          ${missing && html`<span class="hint">needs ${missing.name === "id" ? "a game: begin one first" : missing.name}</span>`}</p>
      </form>
      <div aria-live="polite">
        ${reply && html`<p class=${reply.ok ? "" : "trouble"}>${reply.status}</p>
          <pre class="answer" tabindex="0" aria-label="The answer"><code>${reply.text}</code></pre>`}
      </div>
      ${answer?.[1].content?.["application/json"] && html`
        <${Fields} title="Fields of the answer" schema=${answer[1].content["application/json"].schema} api=${api} />`}
    </details>`;
}

function addressOf({ path, parameters }, value) {
  const filled = path.replace(/{(\w+)}/g, (hole, name) => encodeURIComponent(value(name)) || hole);
  const query = parameters.filter((parameter) => parameter.in === "query" && value(parameter.name) !== "");
  return filled + (query.length ? `?${new URLSearchParams(query.map((parameter) => [parameter.name, value(parameter.name)]))}` : "");
}

async function request(method, url, body) {
  try {
    const headers = body ? { "Content-Type": "application/json" } : {};
    const answer = await fetch(url, { method, headers, body: body || undefined });
    const status = `${answer.status} ${answer.statusText}`;
    const isJson = (answer.headers.get("Content-Type") || "").startsWith("application/json");
    if (!isJson) return { ok: answer.ok, status, text: await answer.text() };
    const content = await answer.json();
    return { ok: answer.ok, status, answer: content, text: JSON.stringify(content, null, 1) };
  } catch {
    return { ok: false, status: "kedge does not answer", text: "" };
  }
}

function curl(method, url, body) {
  const flat = body && body.replace(/\n */g, " ").replaceAll("'", "'\\''");
  return [`curl ${method === "GET" ? "" : `-X ${method} `}'${location.origin}${url}'`,
    ...(body ? ["-H 'Content-Type: application/json'", `-d '${flat}'`] : [])].join(" \\\n  ");
}

// A schema's fields, one per row.
function Fields({ title, schema, api }) {
  const object = resolved(schema, api);
  const inner = object.type === "array" ? resolved(object.items, api) : object;
  if (!inner.properties) return html`<p class="fields">${title}: ${typeOf(schema, api)}</p>`;
  return html`
    <details class="fields"><summary>${title}</summary>
      ${inner.description && html`<p><${Words} text=${inner.description} /></p>`}
      <dl>${Object.entries(inner.properties).map(([name, field]) => html`
        <div key=${name}>
          <dt><code>${name}</code>${inner.required?.includes(name) ? "" : "?"} <small>${typeOf(field, api)}</small></dt>
          <dd>${field.description && html`<${Words} text=${field.description} />`}</dd></div>`)}</dl>
    </details>`;
}

function resolved(schema, api) {
  return schema.$ref ? api.components.schemas[schema.$ref.split("/").at(-1)] : schema;
}

function typeOf(schema, api) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map((choice) => typeOf(choice, api)).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items || {}, api)}`;
  const range = [schema.minimum, schema.maximum].some((end) => end !== undefined)
    ? ` from ${schema.minimum ?? "…"} to ${schema.maximum ?? "…"}` : "";
  return (schema.type || "anything") + range;
}

const exampleOf = (schema, api) => {
  const object = schema.anyOf ? schema.anyOf[0] : schema;
  return resolved(object, api).examples?.[0] ?? {};
};

// Text with `code`.
function Words({ text }) {
  return text.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
}

const anchor = (tag) => tag.replace(/\W+/g, "-");

const root = document.getElementById("page");
render(html`<${Page} />`, root);
