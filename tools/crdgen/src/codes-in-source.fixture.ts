import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

export interface FoundCode {
  /** Undefined: an open text, which nobody can list. */
  readonly code: string | undefined;
  /** From the root of the workspace, with the line. */
  readonly where: string;
}

const root = resolve(import.meta.dirname, '../../..');
const isSource = (path: string): boolean => path.endsWith('.ts') && !/\.(?:test|fixture|story|d)\.ts$/.test(path);

/**
 * Every code that the sources below these folders put beside a message or a detail, as the type checker sees it. A parameter
 * counts for what its callers hand over, anything else for all that its type allows; a copy of another such object puts none.
 */
export function codesInSource(folders: readonly string[]): readonly FoundCode[] {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(isSource)
      .map((path) => join(root, folder, path)),
  );
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    customConditions: ['@gitops-reverser/source'],
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: ['node'] },
  });
  const sources = files.flatMap((file) => program.getSourceFile(file) ?? []);
  return new CodeSearch(program.getTypeChecker(), sources).all();
}

class CodeSearch {
  private readonly checker: ts.TypeChecker;
  private readonly callsByName = new Map<string, ts.CallExpression[]>();
  private readonly literals: ts.ObjectLiteralExpression[] = [];

  constructor(checker: ts.TypeChecker, sources: readonly ts.SourceFile[]) {
    this.checker = checker;
    for (const source of sources) this.visit(source);
  }

  all(): readonly FoundCode[] {
    return this.literals.flatMap((node) => {
      const value = valueOf(node.properties.find((each) => each.name?.getText() === 'code'));
      if (value === undefined) return [];
      const type = this.checker.getTypeAtLocation(node);
      const isAbout = ['message', 'detail'].some((name) => type.getProperty(name) !== undefined);
      return isAbout ? this.codesOf(value, new Set()) : [];
    });
  }

  private visit(node: ts.Node): void {
    if (ts.isObjectLiteralExpression(node)) this.literals.push(node);
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const { text } = node.expression;
      this.callsByName.set(text, [...(this.callsByName.get(text) ?? []), node]);
    }
    ts.forEachChild(node, (child) => this.visit(child));
  }

  private symbolAt(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.checker.getSymbolAtLocation(node);
    const isAlias = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return isAlias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  private codesOf(value: ts.Expression, seen: Set<ts.Node>): readonly FoundCode[] {
    if (ts.isPropertyAccessExpression(value) && value.name.text === 'code') return [];
    const type = this.checker.getTypeAtLocation(value);
    const literals = literalsOf(type);
    const found = literals.map((code) => ({ code, where: whereIs(value) }));
    if (type.isStringLiteral() || seen.has(value) || !ts.isIdentifier(value)) return found;
    seen.add(value);
    const declaration = this.declarationOf(value);
    if (declaration !== undefined && ts.isBindingElement(declaration) && literals.includes(undefined)) return [];
    if (declaration === undefined || !ts.isParameter(declaration)) return found;
    const { parent } = declaration;
    const name = ts.isArrowFunction(parent) ? nameOf(parent.parent) : nameOf(parent);
    if (name === undefined) return found;
    const at = parent.parameters.indexOf(declaration);
    return this.callsOf(name).flatMap((call) => {
      const given = call.arguments[at];
      return given === undefined ? [] : this.codesOf(given, seen);
    });
  }

  private callsOf(name: ts.Identifier): readonly ts.CallExpression[] {
    const callee = this.symbolAt(name);
    return (this.callsByName.get(name.text) ?? []).filter(({ expression }) => this.symbolAt(expression) === callee);
  }

  private declarationOf(value: ts.Identifier): ts.Declaration | undefined {
    const { parent } = value;
    const symbol = ts.isShorthandPropertyAssignment(parent)
      ? this.checker.getShorthandAssignmentValueSymbol(parent)
      : this.checker.getSymbolAtLocation(value);
    return symbol?.valueDeclaration;
  }
}

function nameOf(node: ts.Node): ts.Identifier | undefined {
  if (!ts.isFunctionDeclaration(node) && !ts.isVariableDeclaration(node)) return undefined;
  return node.name !== undefined && ts.isIdentifier(node.name) ? node.name : undefined;
}

function whereIs(node: ts.Node): string {
  const source = node.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return `${source.fileName.slice(root.length + 1)}:${line + 1}`;
}

function valueOf(property: ts.ObjectLiteralElementLike | undefined): ts.Expression | undefined {
  if (property === undefined) return undefined;
  if (ts.isPropertyAssignment(property)) return property.initializer;
  return ts.isShorthandPropertyAssignment(property) ? property.name : undefined;
}

function literalsOf(type: ts.Type): readonly (string | undefined)[] {
  if (type.isUnion()) return type.types.flatMap(literalsOf);
  return [type.isStringLiteral() ? type.value : undefined];
}
