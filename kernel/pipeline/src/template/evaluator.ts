import { printed, UnsupportedFormat } from './format.js';
import { callFunction } from './functions.js';
import type { Command, Node, Pipeline, Template, Term } from './nodes.js';
import { errorAt } from './template-error.js';
import { isList, isTrue, TemplateMap, TemplateRecord, typeName, type Value } from './values.js';

/** 200_000 steps, 65_536 characters: what one message may cost at most. */
const STEPS = 200_000;
const OUTPUT_CHARACTERS = 65_536;

/** @throws TemplateError when a field is absent, types do not fit, or a bound is exceeded */
export function renderTemplate(template: Template, data: Value): string {
  return new Evaluator(template.text, data).run(template.nodes);
}

type Flow = 'on' | 'break' | 'continue';
interface Variable {
  readonly name: string;
  value: Value;
}

class Evaluator {
  readonly #text: string;
  readonly #data: Value;
  readonly #variables: Variable[];
  #out = '';
  #steps = 0;

  constructor(text: string, data: Value) {
    this.#text = text;
    this.#data = data;
    this.#variables = [{ name: '$', value: data }];
  }

  run(nodes: readonly Node[]): string {
    this.#walk(nodes, this.#data);
    return this.#out;
  }

  #fail(at: number, problem: string): never {
    throw errorAt(this.#text, at, problem);
  }

  /** Runs what may refuse its arguments, and says where it was. */
  #at<T>(at: number, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (error instanceof UnsupportedFormat || (error instanceof Error && error.name === 'Error'))
        return this.#fail(at, error.message);
      throw error;
    }
  }

  #step(at: number): void {
    this.#steps += 1;
    if (this.#steps > STEPS) this.#fail(at, `more than ${STEPS} steps`);
  }

  #write(text: string, at: number): void {
    this.#out += text;
    if (this.#out.length > OUTPUT_CHARACTERS)
      this.#fail(at, `the message is longer than ${OUTPUT_CHARACTERS} characters`);
  }

  #walk(nodes: readonly Node[], dot: Value): Flow {
    for (const node of nodes) {
      this.#step(node.at);
      switch (node.kind) {
        case 'text':
          this.#write(node.text, node.at);
          break;
        case 'action': {
          const value = this.#pipeline(node.pipeline, dot);
          if (node.pipeline.declared.length === 0)
            this.#write(value === null ? '<no value>' : this.#at(node.at, () => printed(value)), node.at);
          break;
        }
        case 'break':
        case 'continue':
          return node.kind;
        case 'range':
          this.#scoped(() => this.#range(node, dot));
          break;
        case 'if':
        case 'with': {
          const flow = this.#scoped(() => {
            const value = this.#pipeline(node.pipeline, dot);
            if (isTrue(value)) return this.#walk(node.body, node.kind === 'with' ? value : dot);
            return node.otherwise === undefined ? 'on' : this.#walk(node.otherwise, dot);
          });
          if (flow !== 'on') return flow;
          break;
        }
      }
    }
    return 'on';
  }

  #scoped<T>(act: () => T): T {
    const mark = this.#variables.length;
    const result = act();
    this.#variables.length = mark;
    return result;
  }

  #range(node: Node & { readonly kind: 'range' | 'if' | 'with' }, dot: Value): void {
    const { declared } = node.pipeline;
    const value = this.#pipeline(node.pipeline, dot);
    const rounds = this.#rounds(value, node.at, declared.length);
    let hasRun = false;
    for (const [key, element] of rounds) {
      hasRun = true;
      this.#step(node.at);
      const flow = this.#scoped(() => {
        const [first, second] = declared;
        const [one, two] = second === undefined ? [element, element] : [key, element];
        // Declared by the pipeline or assigned to: either way the nearest of that name.
        if (first !== undefined) this.#assign(first, one, node.at);
        if (second !== undefined) this.#assign(second, two, node.at);
        return this.#walk(node.body, element);
      });
      if (flow === 'break') break;
    }
    if (!hasRun && node.otherwise !== undefined) this.#walk(node.otherwise, dot);
  }

  *#rounds(value: Value, at: number, variables: number): Iterable<readonly [Value, Value]> {
    if (typeof value === 'bigint') {
      if (variables > 1) this.#fail(at, `can't use ${value} to iterate over more than one variable`);
      for (let round = 0n; round < value; round += 1n) yield [round, round];
    } else if (value instanceof TemplateMap) yield* value.sorted();
    else if (typeof value === 'object' && value !== null && !(value instanceof TemplateRecord) && isList(value)) {
      for (const [place, element] of value.entries()) yield [BigInt(place), element];
    } else if (value !== null) this.#fail(at, `range can't iterate over a value of type ${typeName(value)}`);
  }

  #pipeline(pipeline: Pipeline, dot: Value): Value {
    this.#step(pipeline.at);
    let value: Value | undefined;
    for (const command of pipeline.commands) value = this.#command(command, dot, value);
    const result = value ?? null;
    for (const name of pipeline.declared) {
      if (pipeline.isAssignment) this.#assign(name, result, pipeline.at);
      else this.#variables.push({ name, value: result });
    }
    return result;
  }

  #assign(name: string, value: Value, at: number): void {
    const variable = this.#variables.findLast((each) => each.name === name);
    if (variable === undefined) this.#fail(at, `undefined variable: ${name}`);
    variable.value = value;
  }

  /** `last` is what the command before it in the pipeline gave. */
  #command({ terms, at }: Command, dot: Value, last: Value | undefined): Value {
    this.#step(at);
    const [first, ...rest] = terms;
    switch (first.kind) {
      case 'field':
        return this.#path(dot, first.path, first.at, dot, rest, last);
      case 'chain':
        return this.#path(this.#argument(first.of, dot), first.path, first.at, dot, rest, last);
      case 'variable': {
        const value = this.#variable(first.name, first.at);
        if (first.path.length > 0) return this.#path(value, first.path, first.at, dot, rest, last);
        this.#mustBeAlone(first, rest, last);
        return value;
      }
      case 'function':
        return this.#function(first.name, first.at, rest, dot, last);
      case 'nil':
        return this.#fail(first.at, 'nil is not a command');
      default:
        this.#mustBeAlone(first, rest, last);
        return this.#argument(first, dot);
    }
  }

  #mustBeAlone(term: Term, rest: readonly Term[], last: Value | undefined): void {
    if (rest.length > 0 || last !== undefined)
      this.#fail(term.at, "can't give argument to a value that is no function");
  }

  #argument(term: Term, dot: Value): Value {
    this.#step(term.at);
    switch (term.kind) {
      case 'literal':
        return term.value;
      case 'nil':
        return null;
      case 'dot':
        return dot;
      case 'field':
        return this.#path(dot, term.path, term.at, dot, [], undefined);
      case 'variable':
        return this.#path(this.#variable(term.name, term.at), term.path, term.at, dot, [], undefined);
      case 'function':
        return this.#function(term.name, term.at, [], dot, undefined);
      case 'pipeline':
        return this.#pipeline(term.pipeline, dot);
      case 'chain':
        return this.#path(this.#argument(term.of, dot), term.path, term.at, dot, [], undefined);
    }
  }

  #variable(name: string, at: number): Value {
    const variable = this.#variables.findLast((each) => each.name === name);
    return variable === undefined ? this.#fail(at, `undefined variable: ${name}`) : variable.value;
  }

  /** Only the last name of a path is given arguments. */
  #path(
    from: Value,
    path: readonly string[],
    at: number,
    dot: Value,
    rest: readonly Term[],
    last: Value | undefined,
  ): Value {
    let value = from;
    path.forEach((name, place) => {
      const isLast = place === path.length - 1;
      value = this.#field(value, name, at, dot, isLast ? rest : [], isLast ? last : undefined);
    });
    return value;
  }

  #field(receiver: Value, name: string, at: number, dot: Value, rest: readonly Term[], last: Value | undefined): Value {
    const hasArguments = rest.length > 0 || last !== undefined;
    if (receiver instanceof TemplateRecord) {
      const method = Object.hasOwn(receiver.methods, name) ? receiver.methods[name] : undefined;
      if (method !== undefined) {
        const given = [...rest.map((term) => this.#argument(term, dot)), ...(last === undefined ? [] : [last])];
        const [only] = given;
        if (given.length !== 1 || only === undefined)
          return this.#fail(at, `wrong number of args for ${name}: want 1 got ${given.length}`);
        if (typeof only !== 'string')
          return this.#fail(at, `wrong type for the argument of ${name}: expected string, got ${typeName(only)}`);
        return method(only);
      }
      const field = Object.hasOwn(receiver.fields, name) ? receiver.fields[name] : undefined;
      if (field === undefined)
        return this.#fail(at, `can't evaluate field ${name}: a ${typeName(receiver)} has none of that name`);
      if (hasArguments) return this.#fail(at, `${name} has arguments but cannot be invoked as function`);
      return field;
    }
    if (receiver instanceof TemplateMap) {
      if (hasArguments) return this.#fail(at, `${name} is not a method but has arguments`);
      return receiver.entries.get(name) ?? this.#fail(at, `map has no entry for key ${JSON.stringify(name)}`);
    }
    return this.#fail(
      at,
      receiver === null
        ? `nil data; no entry for key ${JSON.stringify(name)}`
        : `can't evaluate field ${name} in type ${typeName(receiver)}`,
    );
  }

  #function(name: string, at: number, rest: readonly Term[], dot: Value, last: Value | undefined): Value {
    if (name === 'and' || name === 'or') return this.#lazy(name, at, rest, dot, last);
    const values = rest.map((term) => this.#argument(term, dot));
    if (last !== undefined) values.push(last);
    return this.#at(at, () => callFunction(name, values));
  }

  #lazy(name: 'and' | 'or', at: number, rest: readonly Term[], dot: Value, last: Value | undefined): Value {
    if (rest.length === 0 && last === undefined)
      return this.#fail(at, `wrong number of args for ${name}: want at least 1 got 0`);
    let value: Value = null;
    for (const term of rest) {
      value = this.#argument(term, dot);
      if (isTrue(value) === (name === 'or')) return value;
    }
    return last === undefined ? value : last;
  }
}
