import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { escapeName } from './cel.js';
import { type JsonSchema, keepsUnknown } from './json-schema.js';

/**
 * What a rule may select: cel-go knows every type from the schema and refuses a field that is not declared. This walks the
 * select chains that begin at `self`, `oldSelf` or a macro variable and says the same.
 */
export function undefinedFieldIn(source: string, self: JsonSchema): string | undefined {
  const parsed = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
  }).parse(source);
  const problems: string[] = [];
  infer(parsed.ast, { self, oldSelf: self }, problems);
  return problems[0];
}

type Scope = Readonly<Record<string, JsonSchema | undefined>>;
const macros = new Set(['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter']);

/** The schema of what a node evaluates to, when it is known. */
function infer(node: ASTNode, scope: Scope, problems: string[]): JsonSchema | undefined {
  switch (node.op) {
    case 'id':
      return scope[node.args];
    case '.': {
      const [target, name] = node.args;
      const schema = infer(target, scope, problems);
      return schema === undefined ? undefined : select(schema, name, problems);
    }
    case '[]': {
      const schema = infer(node.args[0], scope, problems);
      infer(node.args[1], scope, problems);
      return (
        schema?.items ?? (typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined)
      );
    }
    case 'rcall': {
      const [name, receiver, args] = node.args;
      const schema = infer(receiver, scope, problems);
      const variable = args[0];
      if (macros.has(name) && variable?.op === 'id' && args.length >= 2) {
        // The variable of a macro over a map is its key.
        const inner: Scope = { ...scope, [variable.args]: schema?.type === 'array' ? schema.items : undefined };
        for (const body of args.slice(1)) infer(body, inner, problems);
        return name === 'filter' ? schema : undefined;
      }
      for (const arg of args) infer(arg, scope, problems);
      return undefined;
    }
    case '?:': {
      infer(node.args[0], scope, problems);
      const left = infer(node.args[1], scope, problems);
      infer(node.args[2], scope, problems);
      return left;
    }
    case 'call':
      for (const arg of node.args[1]) infer(arg, scope, problems);
      return undefined;
    case 'list':
      for (const item of node.args) infer(item, scope, problems);
      return undefined;
    case 'map':
      for (const [key, value] of node.args) for (const part of [key, value]) infer(part, scope, problems);
      return undefined;
    case '!_':
    case '-_':
      infer(node.args, scope, problems);
      return undefined;
    case 'value':
    case '.?':
    case '[?]':
      return undefined;
    default:
      for (const side of node.args) infer(side, scope, problems);
      return undefined;
  }
}

function select(schema: JsonSchema, name: string, problems: string[]): JsonSchema | undefined {
  if (schema.type !== 'object' || schema['x-kubernetes-embedded-resource'] === true) return undefined;
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  for (const [declared, inner] of Object.entries(schema.properties ?? {}))
    if (escapeName(declared) === name) return inner;
  if (schema.properties?.['metadata'] === undefined || name !== 'metadata') {
    if (!(keepsUnknown(schema) && schema.properties === undefined)) problems.push(`undefined field '${name}'`);
  }
  return undefined;
}
