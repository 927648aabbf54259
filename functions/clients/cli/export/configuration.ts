import { type Block, type Body, hclOf, Reference } from './hcl.ts';

/** Names that Terraform does not allow for variables (Terraform: input variables). */
const notForVariables = new Set([
  '_',
  'source',
  'version',
  'providers',
  'count',
  'for_each',
  'lifecycle',
  'depends_on',
  'locals',
]);

/** Collects the files of a configuration: resources with their import blocks, and variables for secrets. */
export class Configuration {
  readonly #files = new Map<string, Block[]>();
  readonly #contents = new Map<string, string>();
  readonly #names = new Set<string>();
  readonly #secrets: string[] = [];
  #resources = 0;

  /** Converts a name on the platform, which may have any characters, to a Terraform name that is unique for its type. */
  name(type: string, text: string): string {
    const plain = text
      .normalize('NFKD')
      .replaceAll(/[^A-Za-z0-9_]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .toLowerCase();
    const start = /^[a-z_]/.test(plain) ? plain.slice(0, 100) : `_${plain.slice(0, 100)}`;
    const base = type === 'variable' && notForVariables.has(start) ? `${start}value` : start;
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}_${n}`;
      if (this.#names.has(`${type}.${name}`)) continue;
      this.#names.add(`${type}.${name}`);
      return name;
    }
  }

  /** @param id import ID. @returns the expression for its `id` */
  resource(file: string, type: string, text: string, id: string, body: Body, blocks: Block[] = []): Reference {
    const name = this.name(type, text);
    this.#add(file, { type: 'resource', labels: [type, name], body, blocks });
    this.#add('imports.tf', { type: 'import', body: { to: new Reference(`${type}.${name}`), id } });
    this.#resources++;
    return new Reference(`${type}.${name}.id`);
  }

  /**
   * A variable for a value that the API does not return. It has no default and no `ignore_changes`: otherwise the provider
   * would overwrite the existing value with an empty one.
   */
  secret(text: string, description: string): Reference {
    const name = this.name('variable', text);
    const body = { description, type: new Reference('string'), sensitive: true };
    this.#add('secrets.tf', { type: 'variable', labels: [name], body });
    this.#secrets.push(name);
    return new Reference(`var.${name}`);
  }

  block(file: string, block: Block): void {
    this.#add(file, block);
  }

  /** Adds a file that is not configuration. @returns the expression that reads it */
  content(path: string, text: string): Reference {
    this.#contents.set(path, text);
    return new Reference(`file("\${path.module}/${path}")`);
  }

  #add(file: string, block: Block): void {
    this.#files.set(file, [...(this.#files.get(file) ?? []), block]);
  }

  get counts(): { resources: number; secrets: number } {
    return { resources: this.#resources, secrets: this.#secrets.length };
  }

  /** Contents by path. */
  get files(): Map<string, string> {
    const example = this.#secrets.length
      ? [['secrets.tfvars.example', `${this.#secrets.map((name) => `# ${name} = "…"`).join('\n')}\n`] as const]
      : [];
    return new Map([
      ...[...this.#files].map(([path, blocks]) => [path, hclOf(blocks)] as const),
      ...this.#contents,
      ...example,
    ]);
  }
}
