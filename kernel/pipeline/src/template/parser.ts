import { isFunction } from './functions.js';
import { tokenize, type Token } from './lexer.js';
import { parseNumber, unquote, unquoteCharacter } from './literal.js';
import type { Command, Node, Pipeline, Template, Term } from './nodes.js';
import { errorAt, type TemplateError } from './template-error.js';

/** 16_384: characters of a template; 64: how deep it may nest. Bounds on what one commit message may cost. */
const TEMPLATE_CHARACTERS = 16_384;
const NESTING = 64;

/** @throws TemplateError with the position of what is wrong */
export function parseTemplate(text: string): Template {
  if (text.length > TEMPLATE_CHARACTERS)
    throw errorAt(text, TEMPLATE_CHARACTERS, `the template is longer than ${TEMPLATE_CHARACTERS} characters`);
  return { text, nodes: new Parser(text, tokenize(text)).run() };
}

const OPERANDS = new Set<Token['kind']>([
  'bool',
  'char',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'raw-string',
  'string',
  'variable',
  'left-paren',
]);
type Control = 'if' | 'with' | 'range';

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #variables: string[] = ['$'];
  #ranges = 0;
  #depth = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  run(): readonly Node[] {
    const { nodes, end } = this.#list();
    if (end.text !== '') throw this.#error(end.at, `unexpected {{${end.text}}}: nothing is open`);
    return nodes;
  }

  #error(at: number, problem: string): TemplateError {
    return errorAt(this.#text, at, problem);
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end-of-text', text: '', at: this.#text.length };
  }
  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }
  #peekFull(): Token {
    while (this.#peek().kind === 'space') this.#next += 1;
    return this.#peek();
  }
  #takeFull(): Token {
    this.#peekFull();
    return this.#take();
  }

  /** Nodes up to the `else` or `end` that ends them; an empty word for the end of the text. */
  #list(): { readonly nodes: Node[]; readonly end: { readonly text: string; readonly at: number } } {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#take();
      if (token.kind === 'end-of-text') return { nodes, end: { text: '', at: token.at } };
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: token.text, at: token.at });
        continue;
      }
      const word = this.#peekFull();
      if (word.kind !== 'keyword') {
        nodes.push({ kind: 'action', pipeline: this.#pipeline('command', 'close'), at: word.at });
        continue;
      }
      this.#take();
      switch (word.text) {
        case 'else': {
          const after = this.#peekFull();
          const isChained = after.kind === 'keyword' && (after.text === 'if' || after.text === 'with');
          if (!isChained) this.#expectClose('{{else}}');
          return { nodes, end: word };
        }
        case 'end':
          this.#expectClose('{{end}}');
          return { nodes, end: word };
        case 'if':
        case 'with':
        case 'range':
          nodes.push(this.#control(word.text, word.at));
          break;
        case 'break':
        case 'continue':
          this.#expectClose(`{{${word.text}}}`);
          if (this.#ranges === 0) throw this.#error(word.at, `{{${word.text}}} outside {{range}}`);
          nodes.push({ kind: word.text, at: word.at });
          break;
        default:
          throw this.#error(word.at, `{{${word.text}}} is not supported: a message is one template`);
      }
    }
  }

  #expectClose(what: string): void {
    const token = this.#takeFull();
    if (token.kind !== 'close') throw this.#error(token.at, `unexpected ${shown(token)} in ${what}`);
  }

  #control(kind: Control, at: number): Node {
    this.#enter(at);
    const known = this.#variables.length;
    const pipeline = this.#pipeline(kind, 'close');
    if (kind === 'range') this.#ranges += 1;
    const { nodes: body, end } = this.#list();
    if (kind === 'range') this.#ranges -= 1;
    let otherwise: readonly Node[] | undefined;
    if (end.text === '') throw this.#error(at, `{{${kind}}} is never ended: expected {{end}}`);
    if (end.text === 'else') otherwise = this.#otherwise(kind, at);
    this.#variables.length = known;
    this.#depth -= 1;
    return { kind, pipeline, body, otherwise, at };
  }

  #otherwise(kind: Control, at: number): readonly Node[] {
    const after = this.#peek();
    if (after.kind === 'keyword') {
      if (kind !== after.text) throw this.#error(after.at, `unexpected {{else ${after.text}}} in {{${kind}}}`);
      this.#take();
      return [this.#control(kind, after.at)];
    }
    const { nodes, end } = this.#list();
    if (end.text === '') throw this.#error(at, `{{${kind}}} is never ended: expected {{end}}`);
    if (end.text === 'else') throw this.#error(end.at, 'a second {{else}}: expected {{end}}');
    return nodes;
  }

  #enter(at: number): void {
    this.#depth += 1;
    if (this.#depth > NESTING) throw this.#error(at, `nested deeper than ${NESTING}`);
  }

  #pipeline(context: string, end: 'close' | 'right-paren'): Pipeline {
    const at = this.#peekFull().at;
    const { declared, isAssignment } = this.#declarations(context);
    const commands: Command[] = [];
    for (;;) {
      const token = this.#peekFull();
      if (token.kind === end) {
        this.#take();
        break;
      }
      if (!OPERANDS.has(token.kind)) throw this.#error(token.at, `unexpected ${shown(token)} in ${context}`);
      commands.push(this.#command());
    }
    if (commands.length === 0) throw this.#error(at, `missing value for ${context}`);
    commands.slice(1).forEach(({ terms: [first] }, index) => {
      const isPlain = first.kind === 'literal' || first.kind === 'nil' || first.kind === 'dot';
      if (isPlain) throw this.#error(first.at, `non executable command in pipeline stage ${index + 2}`);
    });
    return { declared, isAssignment, commands, at };
  }

  #declarations(context: string): { readonly declared: readonly string[]; readonly isAssignment: boolean } {
    const declared: string[] = [];
    for (;;) {
      const variable = this.#peekFull();
      if (variable.kind !== 'variable') return { declared, isAssignment: false };
      const start = this.#next;
      this.#take();
      const next = this.#peekFull();
      if (next.kind === 'assign' || next.kind === 'declare') {
        this.#take();
        declared.push(variable.text);
        this.#variables.push(variable.text);
        return { declared, isAssignment: next.kind === 'assign' };
      }
      if (next.kind !== 'mark' || next.text !== ',') {
        this.#next = start;
        if (declared.length > 0)
          throw this.#error(variable.at, 'range can only initialize variables: expected := or =');
        return { declared, isAssignment: false };
      }
      this.#take();
      declared.push(variable.text);
      this.#variables.push(variable.text);
      if (context !== 'range' || declared.length >= 2)
        throw this.#error(next.at, `too many declarations in ${context}`);
      const after = this.#peekFull();
      if (after.kind !== 'variable') throw this.#error(after.at, 'range can only initialize variables');
    }
  }

  #command(): Command {
    const at = this.#peekFull().at;
    const terms: Term[] = [];
    for (;;) {
      this.#peekFull();
      const operand = this.#operand();
      if (operand !== undefined) terms.push(operand);
      const token = this.#peek();
      if (token.kind === 'space') {
        this.#take();
        continue;
      }
      if (token.kind === 'pipe') {
        this.#take();
        const after = this.#peekFull();
        if (!OPERANDS.has(after.kind)) throw this.#error(after.at, `missing value after |: unexpected ${shown(after)}`);
      } else if (token.kind !== 'close' && token.kind !== 'right-paren')
        throw this.#error(token.at, `unexpected ${shown(token)} in operand`);
      break;
    }
    const [first, ...rest] = terms;
    if (first === undefined) throw this.#error(at, 'empty command');
    return { terms: [first, ...rest], at };
  }

  #operand(): Term | undefined {
    const term = this.#term();
    if (term === undefined || this.#peek().kind !== 'field') return term;
    const path: string[] = [];
    while (this.#peek().kind === 'field') path.push(this.#take().text.slice(1));
    switch (term.kind) {
      case 'field':
        return { ...term, path: [...term.path, ...path] };
      case 'variable':
        return { ...term, path: [...term.path, ...path] };
      case 'literal':
      case 'nil':
      case 'dot':
        throw this.#error(term.at, 'unexpected . after a term that has no fields');
      default:
        return { kind: 'chain', of: term, path, at: term.at };
    }
  }

  #term(): Term | undefined {
    const token = this.#peekFull();
    const { at, text } = token;
    if (!OPERANDS.has(token.kind)) return undefined;
    this.#take();
    switch (token.kind) {
      case 'identifier':
        if (text === 'call') throw this.#error(at, 'call is not supported: message data holds no functions');
        if (!isFunction(text)) throw this.#error(at, `function ${JSON.stringify(text)} not defined`);
        return { kind: 'function', name: text, at };
      case 'dot':
        return { kind: 'dot', at };
      case 'nil':
        return { kind: 'nil', at };
      case 'variable':
        if (!this.#variables.includes(text)) throw this.#error(at, `undefined variable ${JSON.stringify(text)}`);
        return { kind: 'variable', name: text, path: [], at };
      case 'field':
        return { kind: 'field', path: [text.slice(1)], at };
      case 'bool':
        return { kind: 'literal', value: text === 'true', at };
      case 'left-paren': {
        this.#enter(at);
        const pipeline = this.#pipeline('parenthesized pipeline', 'right-paren');
        this.#depth -= 1;
        return { kind: 'pipeline', pipeline, at };
      }
      default:
        return { kind: 'literal', value: this.#literal(token), at };
    }
  }

  #literal({ kind, text, at }: Token): string | bigint | number {
    if (kind === 'raw-string') return text.slice(1, -1).replaceAll('\r', '');
    if (kind === 'string') {
      const value = unquote(text);
      if (value === undefined) throw this.#error(at, `malformed string ${text}`);
      return value;
    }
    if (kind === 'char') {
      const value = unquoteCharacter(text);
      if (value === undefined) throw this.#error(at, `malformed character constant: ${text}`);
      return value;
    }
    const value = parseNumber(text);
    if (typeof value === 'object') throw this.#error(at, value.problem);
    return value;
  }
}

const shown = (token: Token): string =>
  token.kind === 'end-of-text' ? 'end of the template' : token.kind === 'close' ? '}}' : JSON.stringify(token.text);
