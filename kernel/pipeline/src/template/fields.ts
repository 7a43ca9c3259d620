import type { Node, Pipeline, Template, Term } from './nodes.js';

export interface FieldUse {
  readonly name: string;
  readonly at: number;
}

/** Every field a template names, in whatever branch, rendered or not. */
export function* fieldsOf(template: Template): Iterable<FieldUse> {
  yield* ofNodes(template.nodes);
}

function* ofNodes(nodes: readonly Node[]): Iterable<FieldUse> {
  for (const node of nodes) {
    switch (node.kind) {
      case 'text':
      case 'break':
      case 'continue':
        break;
      case 'action':
        yield* ofPipeline(node.pipeline);
        break;
      case 'if':
      case 'with':
      case 'range':
        yield* ofPipeline(node.pipeline);
        yield* ofNodes(node.body);
        yield* ofNodes(node.otherwise ?? []);
        break;
    }
  }
}

function* ofPipeline({ commands }: Pipeline): Iterable<FieldUse> {
  for (const { terms } of commands) for (const term of terms) yield* ofTerm(term);
}

function* ofTerm(term: Term): Iterable<FieldUse> {
  switch (term.kind) {
    case 'literal':
    case 'nil':
    case 'dot':
    case 'function':
      return;
    case 'pipeline':
      return yield* ofPipeline(term.pipeline);
    case 'chain':
      yield* ofTerm(term.of);
      break;
    case 'field':
    case 'variable':
      break;
  }
  for (const name of term.path) yield { name, at: term.at };
}
