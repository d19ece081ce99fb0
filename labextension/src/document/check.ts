/**
 * What a schema cannot say about a document: every index points at something, and the regions of a graph nest.
 * Each fault is a `RangeError` with the column's path and what was expected.
 */
import { BindingKind, NodeKind, type Document, type Graph, type Outline } from './graph.ts';

/** Checks the tables that all graphs share, and the programs. */
export function checkTables(document: Document): void {
  const { strings, types, files, frames, stacks, programs, graphs } = document;
  const text = strings.length;
  within('types/text', types.text, text);
  within('types/dtype', types.dtype, text, types.text.length);
  within('types/rank', types.rank, Infinity, types.text.length, -1);
  same('types/bytes', types.bytes.length, types.text.length);
  same('types/weak', types.weak.length, types.text.length);
  same('types/dims', types.dims.length, types.firstDim[types.firstDim.length - 1]);
  within('files/path', files.path, text);
  const fileCount = files.path.length;
  within('files/label', files.label, text, fileCount);
  within('files/text', files.text, text, fileCount);
  same('files/library', files.library.length, fileCount);
  same('files/start', files.start.length, fileCount);
  within('frames/file', frames.file, fileCount);
  const frameCount = frames.file.length;
  within('frames/function', frames.function, text, frameCount);
  for (const column of ['line', 'column', 'endLine', 'endColumn'] as const) {
    same(`frames/${column}`, frames[column].length, frameCount);
  }
  within('stacks/frame', stacks.frame, frameCount);
  same('stacks/parent', stacks.parent.length, stacks.frame.length);
  before('stacks/parent', stacks.parent);
  if (!programs.length || !graphs.length || programs.some(program => !program.stages.length)) {
    throw new RangeError('programs should hold a program with a stage');
  }
  programs.forEach((program, index) => {
    within(`programs/${index}/file`, [program.file], fileCount, 1, -1);
    program.stages.forEach((stage, place) =>
      within(`programs/${index}/stages/${place}/graph`, [stage.graph], graphs.length)
    );
    if (program.error) {
      within(`programs/${index}/error/stack`, [program.error.stack], stacks.frame.length, 1, -1);
      within(`programs/${index}/error/nodes`, program.error.nodes, graphs[program.stages[0].graph].nodeCount);
    }
  });
}

/** Checks that links and fates are about nodes that there are. */
export function checkLinks(document: Document): void {
  const { graphs, strings } = document;
  document.links.forEach((links, index) => {
    const path = `links/${index}`;
    within(`${path}/from`, [links.from], graphs.length);
    within(`${path}/to`, [links.to], graphs.length);
    within(`${path}/source`, links.source, graphs[links.from].nodeCount);
    within(`${path}/target`, links.target, graphs[links.to].nodeCount, links.source.length);
    same(`${path}/kind`, links.kind.length, links.source.length);
  });
  document.fates.forEach((fates, index) => {
    const path = `fates/${index}`;
    within(`${path}/graph`, [fates.graph], graphs.length);
    const { nodeCount } = graphs[fates.graph];
    same(`${path}/kind`, fates.kind.length, nodeCount);
    within(`${path}/where`, fates.where, strings.length, nodeCount);
    within(`${path}/by`, fates.by, nodeCount, nodeCount, -1);
  });
}

/** Checks that findings are about nodes and lines that there are. */
export function checkFindings(document: Document): void {
  document.findings.forEach((finding, index) => {
    const path = `findings/${index}`;
    within(`${path}/graph`, [finding.graph], document.graphs.length);
    const { nodeCount } = document.graphs[finding.graph];
    same(`${path}/size`, finding.size.length, finding.first.length);
    within(`${path}/first`, finding.first, nodeCount);
    within(
      `${path}/size`,
      finding.first.map((first, run) => first + finding.size[run]),
      nodeCount + 1
    );
    same(`${path}/line`, finding.line.length, finding.file.length);
    within(`${path}/file`, finding.file, document.files.path.length);
  });
}

/** Checks that rows of outlines nest and are about nodes that there are. */
export function checkOutlines(document: Document): void {
  const { graphs } = document;
  document.outlines.forEach((outline, index) => {
    const path = `outlines/${index}`;
    within(`${path}/graph`, [outline.graph], graphs.length);
    checkOutline(document, graphs[outline.graph], outline, path);
  });
}

/** Checks the outline of one graph; `path` names it in messages. */
export function checkOutline({ strings }: Document, graph: Graph, outline: Outline, path: string): void {
  const { nodeCount, regionCount } = graph;
  const rows = outline.parent.length;
  same(`${path}/role`, outline.role.length, nodeCount);
  if (rows === 0 || outline.parent[0] !== -1) {
    throw new RangeError(`${path}/parent should begin with -1, the program itself`);
  }
  before(`${path}/parent`, outline.parent);
  within(`${path}/kind`, outline.kind, 14, rows);
  within(`${path}/name`, outline.name, strings.length, rows);
  within(`${path}/detail`, outline.detail, strings.length, rows);
  within(`${path}/variable`, outline.variable, strings.length, rows);
  within(`${path}/first`, outline.first, nodeCount + 1, rows);
  within(`${path}/end`, outline.end, nodeCount + 1, rows);
  within(`${path}/closed`, outline.closed, 2, rows);
  within(`${path}/count`, outline.count, Infinity, rows, 1);
  within(`${path}/copy`, outline.copy, Infinity, rows, -1);
  within(`${path}/like`, outline.like, rows, rows, -1);
  within(`${path}/twin`, outline.twin, rows, rows, -1);
  within(`${path}/region`, outline.region, regionCount, rows, -1);
  for (let row = 1; row < rows; row++) {
    const around = outline.parent[row];
    if (
      around < 0 ||
      outline.first[row] < outline.first[around] ||
      outline.end[row] > outline.end[around] ||
      outline.end[row] < outline.first[row]
    ) {
      throw new RangeError(`${path}/first/${row} should lie in the row around it`);
    }
  }
}

/** Checks one graph; `path` names it in messages. */
export function checkGraph(document: Document, graph: Graph, path: string): void {
  const text = document.strings.length;
  const types = document.types.text.length;
  const { nodeCount: nodes, regionCount: regions } = graph;
  const values = graph.valueNode.length;
  const literals = graph.literalText.length;
  within(`${path}/nodes/op`, graph.op, text, nodes);
  within(`${path}/nodes/name`, graph.name, text, nodes);
  within(`${path}/nodes/scope`, graph.scope, text, nodes);
  within(`${path}/nodes/stack`, graph.stack, document.stacks.frame.length, nodes, -1);
  within(`${path}/nodes/region`, graph.region, regions, nodes);
  same(`${path}/nodes/outputs`, graph.firstValue.length - 1, nodes);
  same(`${path}/nodes/operands`, graph.firstOperand.length - 1, nodes);
  within(`${path}/values/type`, graph.valueType, types, values);
  within(`${path}/operands/source`, graph.operandSource, values, graph.firstOperand[nodes], -literals);
  within(`${path}/literals/text`, graph.literalText, text);
  within(`${path}/literals/type`, graph.literalType, types, literals);
  checkRegions(graph, path, text);
  checkBindings(graph, path, values, literals);
  within(`${path}/attributes/node`, graph.attributeNode, nodes);
  within(`${path}/attributes/key`, graph.attributeKey, text, graph.attributeNode.length);
  within(`${path}/attributes/value`, graph.attributeValue, text, graph.attributeNode.length);
}

function checkRegions(graph: Graph, path: string, text: number): void {
  const { regionOwner, regionCount, nodeCount, region } = graph;
  if (regionCount === 0 || regionOwner[0] !== -1) {
    throw new RangeError(`${path}/regions/owner should begin with -1, the program itself`);
  }
  within(`${path}/regions/owner`, regionOwner.subarray(1), nodeCount);
  within(`${path}/regions/kind`, graph.regionKind, text, regionCount);
  within(`${path}/regions/name`, graph.regionName, text, regionCount);
  for (let r = 1; r < regionCount; r++) {
    const owner = regionOwner[r];
    if (region[owner] >= r || graph.regionStart[r] <= owner || graph.kind[owner] !== NodeKind.operation) {
      throw new RangeError(`${path}/regions/owner/${r} should be an operation that stands before the region`);
    }
    const outer = region[owner];
    if (graph.regionStart[r] < graph.regionStart[outer] || graph.regionEnd[r] > graph.regionEnd[outer]) {
      throw new RangeError(`${path}/nodes/region should nest: region ${r} lies partly outside region ${outer}`);
    }
  }
}

function checkBindings(graph: Graph, path: string, values: number, literals: number): void {
  const { bindingKind, bindingFrom, bindingTo, kind, nodeCount } = graph;
  same(`${path}/bindings/from`, bindingFrom.length, bindingKind.length);
  same(`${path}/bindings/to`, bindingTo.length, bindingKind.length);
  for (let i = 0; i < bindingKind.length; i++) {
    const enters = bindingKind[i] <= BindingKind.slice;
    const leaves = bindingKind[i] === BindingKind.leave || bindingKind[i] === BindingKind.stack;
    const from = bindingFrom[i];
    const to = bindingTo[i];
    const fromRight = enters
      ? from < values && from >= -literals
      : from >= 0 && from < nodeCount && kind[from] === NodeKind.result;
    const toRight = leaves ? to < values : to < nodeCount && kind[to] === NodeKind.argument;
    if (!fromRight || !toRight) {
      throw new RangeError(
        `${path}/bindings/${fromRight ? 'to' : 'from'}/${i} should name ${fromRight === enters ? 'an argument node' : 'a value or a result node'}`
      );
    }
  }
}

function within(path: string, column: ArrayLike<number>, limit: number, length = column.length, least = 0): void {
  same(path, column.length, length);
  for (let i = 0; i < column.length; i++) {
    if (column[i] < least || column[i] >= limit) {
      throw new RangeError(`${path}/${i} is ${column[i]}, expected from ${least} to ${limit - 1}`);
    }
  }
}

function before(path: string, column: Int32Array): void {
  for (let i = 0; i < column.length; i++) {
    if (column[i] < -1 || column[i] >= i) {
      throw new RangeError(`${path}/${i} is ${column[i]}, expected one that comes before it, or -1`);
    }
  }
}

function same(path: string, length: number, expected: number): void {
  if (length !== expected) {
    throw new RangeError(`${path} has ${length} entries, expected ${expected}`);
  }
}
