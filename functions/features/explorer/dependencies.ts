import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { parseHcl } from '#platform/formats/hcl.ts';
import { gunzip, tarEntries } from '#platform/formats/tar.ts';

/**
 * Providers and modules of a plan, from the files that Terraform puts into it: the lock file and the manifest of modules
 * (Terraform: dependency lock file; planfile). The plan comes from a machine that runs users' code, so neither its size
 * nor its form is trusted.
 */
export interface Dependency {
  /** `registry.terraform.io/hashicorp/aws`, or a module's address without credentials. */
  source: string;
  /** Null if there is none, or it is unknown. */
  version: string | null;
}

export interface Dependencies {
  /** Undefined if the plan does not contain them. */
  providers?: Dependency[];
  modules?: Dependency[];
}

const maxUnpackedBytes = 128 * 1024 * 1024;
const maxFileBytes = 1024 * 1024;
const maxMs = 5000;

/** Excludes texts that a spreadsheet could read as a formula. */
const isSource = (text: string): boolean => text.length <= 300 && /^[A-Za-z0-9][\x21-\x7e]*$/.test(text);
const isVersion = (text: unknown): text is string => typeof text === 'string' && /^[\w.+-]{1,100}$/.test(text);

/** Removes credentials in the address and keys in parameters from a module's source (Terraform: module sources). */
const cleaned = (source: string): { source: string; version: string | null } => {
  const [address = '', query = ''] = source.split('?');
  const ref = new URLSearchParams(query).get('ref');
  return { source: address.replace(/\/\/[^/@]*@/, '//'), version: isVersion(ref) ? ref : null };
};

const isLocal = (source: string): boolean => source === '' || source.startsWith('.') || source.startsWith('/');

const distinct = (all: Dependency[]): Dependency[] => {
  const byName = new Map(
    all
      .filter(({ source }) => isSource(source))
      .map((dependency) => [`${dependency.source} ${dependency.version}`, dependency]),
  );
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, dependency]) => dependency);
};

/** From Terraform's manifest of modules. @throws for invalid JSON */
export const modulesIn = (text: string): Dependency[] => {
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) return [];
  return distinct(
    entries.flatMap((entry: { Source?: unknown; Version?: unknown } | null): Dependency[] => {
      const source = typeof entry?.Source === 'string' ? entry.Source : '';
      if (isLocal(source)) return [];
      const { version, ...rest } = cleaned(source);
      return [{ ...rest, version: isVersion(entry?.Version) ? entry.Version : version }];
    }),
  );
};

/** From a dependency lock file. */
export const providersIn = (text: string): Dependency[] =>
  distinct(
    parseHcl(text).blocks.flatMap(({ type, labels: [source = ''], attributes }) => {
      const version = attributes.version?.replace(/^"|"$/g, '');
      return type === 'provider' ? [{ source, version: isVersion(version) ? version : null }] : [];
    }),
  );

const planFiles = { 'tfconfig/modules.json': true, '.terraform.lock.hcl': true } as const;

/** @throws for an invalid zip archive */
const filesInPlan = async (plan: Buffer): Promise<Map<string, string>> => {
  const files = new Map<string, string>();
  const zip = await fromBufferPromise(plan, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    if (!Object.hasOwn(planFiles, entry.fileName) || entry.uncompressedSize > maxFileBytes) continue;
    files.set(entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8'));
  }
  return files;
};

/** Unreadable parts are left out. @param archive as runners store plans: gzip tar */
export const dependenciesIn = async (archive: Buffer): Promise<Dependencies> => {
  try {
    for await (const entry of tarEntries(gunzip(archive, { bytes: maxUnpackedBytes, ms: maxMs }))) {
      if (entry.name !== 'plan.tfplan' || !entry.isFile) continue;
      const files = await filesInPlan(await entry.content());
      const [modules, lockFile] = [files.get('tfconfig/modules.json'), files.get('.terraform.lock.hcl')];
      return {
        ...(modules === undefined ? {} : { modules: modulesIn(modules) }),
        ...(lockFile === undefined ? {} : { providers: providersIn(lockFile) }),
      };
    }
  } catch {
    // An unreadable plan has no dependencies to show.
  }
  return {};
};
