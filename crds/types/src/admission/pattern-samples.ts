import { durationOrZeroPattern, durationPattern } from '../duration.js';
import { branchPattern, dnsLabelPattern, dnsSubdomainPattern, folderPattern } from '../formats.js';
import { globPattern } from '../glob.js';
import { labelKeyPattern, labelValuePattern } from '../label-selector.js';

/** Texts that each pattern refuses; the rows of one pattern differ in why. */
export const badByPattern: Readonly<Record<string, readonly string[]>> = {
  [durationPattern]: ['5', '5 s', '-5s', '1d', 's'],
  [durationOrZeroPattern]: ['5', 'never'],
  [dnsLabelPattern]: ['*', 'Team', 'a.b', '-a'],
  [dnsSubdomainPattern]: ['Team', 'a..b', 'a_b', 'a.'],
  [folderPattern]: ['/a', 'a/', 'a//b', 'a\\b', 'a\nb'],
  [branchPattern]: ['a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[0]', 'a\\b', 'a\tb'],
  [globPattern]: ['a?', 'a[bc]', 'a\\*'],
  [labelKeyPattern]: ['a b', '/a', '-a'],
  [labelValuePattern]: ['a b', '-a'],
  '^https?://[^\\s/@?#]+$': [
    'proxy.example.com:3128',
    'http://user:secret@proxy:3128',
    'socks5://proxy:1080',
    'http://proxy/path',
  ],
  '^[^\\x00-\\x1f\\x7f<>]+$': ['Bot <bot>', 'a\nb'],
  '^[^\\s<>@]+@[^\\s<>@]+$': ['nobody', 'a b@c', '<a@b>'],
  '^[-._a-zA-Z0-9]+$': ['a/b'],
  '^(\\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$': ['**', 'Team', 'a*'],
  '^(\\*|\\{namespace\\}|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$': ['team-*', '{other}', 'Team'],
  '^age1[ac-hj-np-z02-9]{58}$': ['AGE-SECRET-KEY-1', 'age1short'],
  '^[0-9a-f]{64}$': ['AB'.repeat(32), 'ab'],
  '^[^/\\s]{1,63}$': ['pods/log', 'config maps'],
  '^[^\\x00-\\x09\\x0B-\\x1F\\x7F]*$': ['a\tb', 'a\rb', 'a\u0007b'],
};
