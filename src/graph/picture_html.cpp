// The page is one file: the graph as JSON, and a script that lays it out in layers and draws it.
#include <sstream>

#include "graph/cost.h"
#include "graph/picture.h"
#include "graph/places.h"

namespace gradus {
namespace {

constexpr const char* kHead = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Gradus graph</title><style>
body { margin: 0; font: 13px Helvetica, Arial, sans-serif; color: #202124; overflow: hidden; }
#bar { position: fixed; top: 0; left: 0; right: 0; padding: 6px 12px; background: #fff;
       border-bottom: 1px solid #dadce0; z-index: 2; }
#bar button { margin-left: 8px; }
#side { position: fixed; top: 34px; right: 0; width: 300px; bottom: 0; padding: 12px; overflow: auto;
        background: #f8f9fa; border-left: 1px solid #dadce0; z-index: 1; }
#side table { border-spacing: 0 4px; } #side td { vertical-align: top; padding-right: 8px; word-break: break-word; }
#side td:first-child { color: #5f6368; white-space: nowrap; }
svg { position: fixed; top: 34px; left: 0; width: 100vw; height: calc(100vh - 34px); cursor: grab; }
.box { stroke: #5f6368; stroke-width: 1; cursor: pointer; }
.op { fill: #e8f0fe; } .input { fill: #e6f4ea; } .constant { fill: #f1f3f4; } .output { fill: #fce8e6; }
.scope { fill: #fef7e0; } .chosen { stroke: #1a73e8; stroke-width: 3; }
path { fill: none; stroke: #9aa0a6; stroke-width: 1; } text { pointer-events: none; text-anchor: middle; }
.small { font-size: 10px; fill: #5f6368; }
</style></head><body>
<div id="bar"><b id="title"></b> <span id="counts"></span>
<button id="fold">collapse all lines</button><button id="unfold">expand all</button>
<button id="whole">show whole</button> wheel: zoom, drag: move, click: details, double click: collapse or expand its line</div>
<svg><g id="view"><g id="edges"></g><g id="boxes"></g></g></svg>
<div id="side">Click a box.</div>
<script>
const graph = )html";

constexpr const char* kTail = R"html(;
const SVG = document.querySelector('svg').namespaceURI, byId = id => document.getElementById(id);
const nodes = new Map(graph.nodes.map(n => [n.id, n]));
const scopes = new Map();
for (const n of graph.nodes) if (n.scope) scopes.set(n.scope, [...(scopes.get(n.scope) || []), n]);
const folded = new Set();
if (graph.nodes.length > 400) for (const s of scopes.keys()) folded.add(s);

// Operands lie above their users: the graph comes in an order in which they are made.
const layer = new Map();
for (const n of graph.nodes)
  layer.set(n.id, n.in.length ? 1 + Math.max(...n.in.map(i => layer.get(i))) : 0);
// What comes from outside lies just above its first use.
const used = new Map();
for (const n of graph.nodes)
  for (const i of n.in) used.set(i, Math.min(used.get(i) ?? Infinity, layer.get(n.id)));
for (const n of graph.nodes)
  if (!n.in.length && used.has(n.id)) layer.set(n.id, used.get(n.id) - 1);

const boxOf = n => n.scope && folded.has(n.scope) && scopes.get(n.scope).length > 1 ? 'scope ' + n.scope : n.id;
let placed = new Map(), chosen = null;

function boxes() {
  const all = new Map();
  for (const n of graph.nodes) {
    const id = boxOf(n);
    const box = all.get(id) || {id, members: [], in: new Set(), layer: 0};
    box.members.push(n);
    box.layer = Math.max(box.layer, layer.get(n.id));
    for (const i of n.in) { const from = boxOf(nodes.get(i)); if (from !== id) box.in.add(from); }
    all.set(id, box);
  }
  return all;
}

function arrange() {
  const all = boxes(), rows = new Map();
  for (const b of all.values()) rows.set(b.layer, [...(rows.get(b.layer) || []), b]);
  let y = 40;
  for (const k of [...rows.keys()].sort((a, b) => a - b)) {
    const row = rows.get(k);
    for (const b of row) {  // below the middle of what it uses
      const above = [...b.in].map(i => all.get(i).x).filter(x => x !== undefined);
      b.want = above.length ? above.reduce((s, x) => s + x, 0) / above.length : 0;
    }
    row.sort((a, b) => a.want - b.want);
    const total = row.length * 170, middle = row.reduce((s, b) => s + b.want, 0) / row.length;
    row.forEach((b, i) => { b.x = middle - total / 2 + 85 + 170 * i; b.y = y; });
    y += 84;
  }
  placed = all;
}

function element(parent, name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
}

function draw() {
  arrange();
  byId('edges').textContent = byId('boxes').textContent = '';
  for (const b of placed.values()) {
    for (const i of b.in) {
      const a = placed.get(i), bend = (b.y - a.y) / 2;
      element(byId('edges'), 'path', {d: `M${a.x},${a.y + 22} C${a.x},${a.y + bend} ${b.x},${b.y - bend} ${b.x},${b.y - 22}`});
    }
    const many = b.members.length > 1, n = b.members[0];
    const g = element(byId('boxes'), 'g', {transform: `translate(${b.x - 75},${b.y - 22})`, 'data-id': b.id});
    element(g, 'rect', {width: 150, height: 44, rx: 8, class: `box ${many ? 'scope' : n.kind}` + (b.id === chosen ? ' chosen' : '')});
    const short = s => s.length > 24 ? s.slice(0, 23) + '…' : s;
    element(g, 'text', {x: 75, y: 18}, short(many ? n.scope : n.name));
    element(g, 'text', {x: 75, y: 34, class: 'small'}, short(many ? `${b.members.length} ops` : n.out.join(', ')));
    g.onclick = () => { chosen = b.id; show(b); draw(); };
    g.ondblclick = () => { const s = n.scope; if (s) { folded.has(s) ? folded.delete(s) : folded.add(s); draw(); } };
  }
  byId('counts').textContent = `${graph.nodes.filter(n => n.kind === 'op').length} ops, ${placed.size} boxes`;
}

function amount(x, unit) {
  if (x === null) return 'depends on sizes';
  for (const [by, prefix] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (x >= by) return (x / by).toPrecision(3) + ' ' + prefix + unit;
  return x + ' ' + unit;
}

function show(b) {
  const side = byId('side');
  side.textContent = '';
  for (const n of b.members.slice(0, 50)) {
    const table = document.createElement('table');
    const rows = {op: n.name, result: n.out.join(', '), attributes: n.attrs, bytes: amount(n.bytes, 'B'),
                  FLOPs: amount(n.flops, 'FLOP'), line: n.where, operands: n.in.map(i => nodes.get(i).name).join(', ')};
    for (const [k, v] of Object.entries(rows)) {
      if (!v) continue;
      const row = table.insertRow();
      row.insertCell().textContent = k;
      row.insertCell().textContent = v;
    }
    side.append(table, document.createElement('hr'));
  }
}

const view = {x: 0, y: 0, scale: 1}, svg = document.querySelector('svg');
const move = () => byId('view').setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.scale})`);
function whole() {
  const xs = [...placed.values()].map(b => b.x), ys = [...placed.values()].map(b => b.y);
  const [left, right, top, bottom] = [Math.min(...xs) - 90, Math.max(...xs) + 90, Math.min(...ys) - 30, Math.max(...ys) + 30];
  view.scale = Math.min(1.5, (innerWidth - 340) / (right - left), (innerHeight - 50) / (bottom - top));
  view.x = (innerWidth - 320 - (left + right) * view.scale) / 2;
  view.y = 8 - top * view.scale;
  move();
}
svg.onwheel = e => {
  const by = Math.exp(-e.deltaY / 500), y = e.clientY - 34;
  view.x = e.clientX - (e.clientX - view.x) * by;
  view.y = y - (y - view.y) * by;
  view.scale *= by;
  move();
};
svg.onpointerdown = e => { svg.last = [e.clientX, e.clientY]; };
svg.onpointermove = e => {
  if (!svg.last || !e.buttons) return;
  view.x += e.clientX - svg.last[0];
  view.y += e.clientY - svg.last[1];
  svg.last = [e.clientX, e.clientY];
  move();
};
byId('fold').onclick = () => { for (const s of scopes.keys()) folded.add(s); draw(); whole(); };
byId('unfold').onclick = () => { folded.clear(); draw(); whole(); };
byId('whole').onclick = whole;
byId('title').textContent = document.title = graph.title;
draw();
whole();
</script></body></html>
)html";

// Text within JSON within a script element: '<' must not end the script.
std::string json(const std::string& text) {
  std::ostringstream result;
  result << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result << '\\' << c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {
      const char* digits = "0123456789abcdef";
      result << "\\u00" << digits[c >> 4 & 15] << digits[c & 15];
    } else {
      result << c;
    }
  }
  result << '"';
  return result.str();
}

struct Box {
  std::string id, kind, name, attrs, where;
  std::vector<std::string> out, in;
  std::optional<Cost> cost;
};

void write(std::ostream& to, const Box& box) {
  const auto list = [&](const std::vector<std::string>& texts) {
    to << '[';
    for (std::size_t i = 0; i < texts.size(); ++i) to << (i ? "," : "") << json(texts[i]);
    to << ']';
  };
  to << "{\"id\":" << json(box.id) << ",\"kind\":" << json(box.kind)
     << ",\"name\":" << json(box.name) << ",\"attrs\":" << json(box.attrs)
     << ",\"where\":" << json(box.where) << ",\"scope\":" << json(box.where) << ",\"out\":";
  list(box.out);
  to << ",\"in\":";
  list(box.in);
  if (box.cost) {
    to << ",\"bytes\":" << box.cost->bytes << ",\"flops\":" << box.cost->flops << '}';
  } else {
    to << ",\"bytes\":null,\"flops\":null}";
  }
}

}  // namespace

std::string to_html(const Graph& graph, const std::string& title) {
  std::vector<Box> boxes;
  const auto source = [&](Graph::Value v) {
    const std::int32_t node = graph.info(v).node;
    return node >= 0 ? "n" + std::to_string(node) : "v" + std::to_string(v);
  };
  for (Graph::Value v = 0; v < graph.value_count(); ++v) {
    const bool constant = graph.info(v).constant.defined();
    if (!constant && graph.info(v).node >= 0) continue;
    const char* kind = constant ? "constant" : "input";
    boxes.push_back({source(v), kind, kind, "", "", {graph.describe(v)}, {}, {}});
  }
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    const Graph::Node& n = graph.nodes()[k];
    Box box{"n" + std::to_string(k), "op", n.op->name(), "", place(n.where), {}, {}, {}};
    box.attrs = n.op->attrs().print(graph.attrs(n), &graph.symbols());
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      box.out.push_back(graph.describe(n.first_out + i));
    for (const Graph::Value v : graph.operands(n)) box.in.push_back(source(v));
    box.cost = cost_of(graph, n);
    boxes.push_back(std::move(box));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Graph::Value v = graph.outputs()[i];
    boxes.push_back({"out" + std::to_string(i),
                     "output",
                     "result " + std::to_string(i),
                     "",
                     "",
                     {graph.describe(v)},
                     {source(v)},
                     {}});
  }
  std::ostringstream page;
  page << kHead << "{\"title\":" << json(title) << ",\"nodes\":[";
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (i > 0) page << ",\n";
    write(page, boxes[i]);
  }
  page << "]}" << kTail;
  return page.str();
}

}  // namespace gradus
