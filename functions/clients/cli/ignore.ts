/**
 * Rules of `.terraformignore`, in the syntax of `.gitignore`. The last matching rule applies, as in Terraform.
 */

interface Rule {
  pattern: RegExp;
  /** `!`: packs the file. */
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
  const glob = anywhere.endsWith('/') ? `${anywhere}**` : anywhere;
  return { pattern: new RegExp(`^${expression(glob)}$`), keeps };
};

/** Also the local backend's states, unlike Terraform: they contain secrets, and readers of a configuration may not read states. */
const states = ['/terraform.tfstate', '/terraform.tfstate.backup', '/terraform.tfstate.d/'];
const always = ['.git/', '.terraform/', '!.terraform/modules/', ...states].map(ruleOf);

export interface Ignore {
  /** @param path relative to the folder, with `/`; directories end with `/` */
  ignores(path: string): boolean;
}

/** @param text content of `.terraformignore`, if any */
export const ignoreRules = (text = ''): Ignore => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const rules = [...always, ...lines.filter((line) => line && !line.startsWith('#')).map(ruleOf)];
  return {
    ignores: (path) => {
      // A rule without a final slash matches files and directories.
      const forms = path.endsWith('/') ? [path, path.slice(0, -1)] : [path];
      const rule = rules.findLast(({ pattern }) => forms.some((form) => pattern.test(form)));
      return rule !== undefined && !rule.keeps;
    },
  };
};
