/**
 * What of a folder is not packed: as Terraform does (`.terraformignore`, which reads like `.gitignore`; the last rule that
 * fits decides).
 */

interface Rule {
  pattern: RegExp;
  /** `!`: it is packed after all. */
  keeps: boolean;
}

const expression = (glob: string): string =>
  glob.replaceAll(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    return part === '?' ? '[^/]' : `\\${part}`;
  });

const ruleOf = (line: string): Rule => {
  const keeps = line.startsWith('!');
  const text = (keeps ? line.slice(1) : line).trim();
  const anywhere = text.startsWith('/') ? text.slice(1) : `**/${text}`;
  const whole = anywhere.endsWith('/') ? `${anywhere}**` : anywhere;
  return { pattern: new RegExp(`^${expression(whole)}$`), keeps };
};

const always = ['.git/', '.terraform/', '!.terraform/modules/'].map(ruleOf);

export interface Ignore {
  /** @param path relative to the folder, with `/`; a directory's ends with one */
  ignores(path: string): boolean;
}

/** @param text of `.terraformignore`, if there is one */
export const ignoreRules = (text = ''): Ignore => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const rules = [...always, ...lines.filter((line) => line && !line.startsWith('#')).map(ruleOf)];
  return {
    ignores: (path) => {
      // A rule without a slash at its end means files and directories alike.
      const forms = path.endsWith('/') ? [path, path.slice(0, -1)] : [path];
      const last = rules.findLast(({ pattern }) => forms.some((form) => pattern.test(form)));
      return last !== undefined && !last.keeps;
    },
  };
};
