import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingEntries } from '#infra/settings/settings.ts';
import { root } from '#platform/program.ts';

/** The settings as an interface for importing projects, without types of the validator, documented by settings.md. */

/** What the validator's schemas have in common here; one with a pipe has the fields of its first schema. */
interface Schema {
  type: string;
  wrapped?: Schema;
  options?: (Schema | string)[];
}

/** A union also accepts the text of `-c name=value`. */
const typeOf = (name: string, { type, wrapped, options = [] }: Schema): string => {
  switch (type) {
    case 'optional':
      return typeOf(name, wrapped as Schema);
    case 'union':
      return typeOf(name, options[0] as Schema);
    case 'picklist':
      return options.map((option) => `'${option}'`).join(' | ');
    case 'array':
      return 'string[]';
    case 'string':
    case 'number':
    case 'boolean':
      return type;
    default:
      throw new Error(`Setting ${name}: no type for ${type}`);
  }
};

const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('`', '')
    .trim();

/** Meaning and default of each setting in the table of settings.md. */
const readMeanings = (): Map<string, string> => {
  const rows = readFileSync(join(root, 'infra/docs/settings.md'), 'utf8').matchAll(/^\| (`.+?`) \| (.+) \| (.+) \|$/gm);
  return new Map(
    [...rows].flatMap(([, names = '', meaning = '', usual = '']) => {
      const text = plain(meaning) + (plain(usual) === '–' ? '.' : `. Default: ${plain(usual)}.`);
      return [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, text] as const);
    }),
  );
};

/** @throws {Error} for a setting that settings.md does not list */
export const settingsTypes = (): string => {
  const meanings = readMeanings();
  const lines = Object.entries(settingEntries).map(([name, schema]) => {
    const meaning = meanings.get(name);
    if (!meaning) throw new Error(`infra/docs/settings.md does not list ${name}`);
    return `  /** ${meaning} */\n  ${name}?: ${typeOf(name, schema as Schema)};\n`;
  });
  return `export interface GivenSettings {\n${lines.join('')}}\n`;
};
