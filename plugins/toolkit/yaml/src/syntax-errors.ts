import type { ErrorCode } from 'yaml';

/** Our own words: the parser's messages quote the text, which may be a secret. */
const descriptions: Partial<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or a tag',
  BAD_ALIAS: 'alias without its anchor',
  BAD_DIRECTIVE: 'malformed directive',
  BAD_DQ_ESCAPE: 'unknown escape in a double-quoted string',
  BAD_INDENT: 'wrong indentation',
  BAD_PROP_ORDER: 'anchor or tag in the wrong place',
  BAD_SCALAR_START: 'a plain string cannot start with this character',
  BLOCK_AS_IMPLICIT_KEY: 'a second key on one line; a value with ": " needs quotes',
  BLOCK_IN_FLOW: 'block content inside brackets',
  IMPOSSIBLE: 'unreadable structure',
  KEY_OVER_1024_CHARS: 'a key longer than 1024 characters',
  MISSING_CHAR: 'a missing character: an unclosed quote, bracket or key',
  MULTILINE_IMPLICIT_KEY: 'a key over several lines, or a line without ": "',
  MULTIPLE_ANCHORS: 'two anchors on one node',
  MULTIPLE_DOCS: 'a second document without ---',
  MULTIPLE_TAGS: 'two tags on one node',
  TAB_AS_INDENT: 'a tab used as indentation',
  UNEXPECTED_TOKEN: 'unexpected content',
};

export function describeSyntaxError(code: ErrorCode): string {
  return descriptions[code] ?? 'a syntax error';
}
