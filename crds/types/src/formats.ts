/** Text formats that several fields share (chapter 10, 0.4). */
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
export const dnsLabelPattern = `^${label}$`;
export const dnsSubdomainPattern = `^${label}(\\.${label})*$`;
export const folderPattern = '^(\\.|[^/\\\\\\x00-\\x1f\\x7f]+(/[^/\\\\\\x00-\\x1f\\x7f]+)*)$';
export const branchPattern = '^[^\\x00-\\x20\\x7f~^:?*\\[\\\\]+$';

const dnsLabel = new RegExp(dnsLabelPattern, 'u');
const dnsSubdomain = new RegExp(dnsSubdomainPattern, 'u');
const folder = new RegExp(folderPattern, 'u');
const branch = new RegExp(branchPattern, 'u');
const lengthOf = (text: string): number => [...text].length;

export const isDnsLabel = (text: string): boolean => text.length <= 63 && dnsLabel.test(text);
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && dnsSubdomain.test(text);

/** A folder within a repository: one spelling per folder, never a way out of it or into Git's own. */
export const isFolderPath = (text: string): boolean =>
  text === '.' || (lengthOf(text) <= 512 && folder.test(text) && !/(^|\/)(\.|\.\.|\.git)(\/|$)/iu.test(text));

/** A short branch name that `git check-ref-format` accepts below `refs/heads/`. */
export const isBranchName = (text: string): boolean =>
  lengthOf(text) <= 255 &&
  branch.test(text) &&
  !/^(-|\/|refs\/)|[/.]$|\.\.|\/\/|@\{|^(@|HEAD)$|(^|\/)\.|\.lock(\/|$)/u.test(text);
