import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { withoutDomains } from '#infra/stack/domain-settings.ts';
import { withoutExistingData } from '#infra/stack/existing-data.ts';
import { isInstalled, root } from '#platform/program.ts';
import type { Bundles } from './bundle.ts';
import { locked } from './file-lock.ts';
import { mergeStacks } from './merge-stacks.ts';
import { build, readStamp, writeStamp } from './stamps.ts';

/**
 * Builds the bundles and the CloudFormation template, for the CDK command line, the local platform and the tests. Needs
 * no network, no account and no Docker. Unchanged outputs are reused without even loading the build tools.
 */

export interface SynthesizeOptions {
  /** Folder of the cloud assembly; the CDK command line chooses its own. */
  outdir?: string;
  /** CDK context including settings; defaults to that of cdk.json, without domain names and existing data. */
  context?: Record<string, unknown>;
  /** Also checks the template against CloudFormation's schemas, which takes 4 s: for deployments. */
  validate?: boolean;
  /** Receives a progress line before each slow build step. */
  tell?: (text: string) => void;
}

export interface Synthesis {
  /** CloudFormation templates of both stacks, merged into one. */
  template: Template;
  /** The templates of the stacks, in the order of their deployment. */
  templates: StackTemplate[];
  /** Absolute path of the cloud assembly. */
  assembly: string;
  bundles: Bundles;
  /** Everything was reused. */
  cached: boolean;
  /** Milliseconds. */
  took: number;
}

export interface StackTemplate {
  stackName: string;
  /** Absolute path. */
  file: string;
  template: Template;
}

export interface Template {
  Resources: Record<string, { Type: string; Properties?: Record<string, unknown>; [more: string]: unknown }>;
  Outputs: Record<string, { Value: unknown; Export?: { Name: string } }>;
  Parameters?: Record<string, { Type: string; Default?: unknown }>;
}

/**
 * @throws {SettingsError} for a wrong setting
 * @throws {BuildFailure} of esbuild when a source does not parse or resolve
 */
export const synthesize = (options: SynthesizeOptions = {}): Promise<Synthesis> =>
  isInstalled ? fromPackage(options) : locked(join(build, 'lock'), () => make(options));

/** The package brings its bundles, and the templates for the default settings. */
const fromPackage = async ({ outdir, context, validate = false }: SynthesizeOptions): Promise<Synthesis> => {
  const started = performance.now();
  const bundles = shipped<Bundles>('bundles');
  const assembly = outdir ? resolve(outdir) : join(build, 'assembly');
  const { files } =
    outdir || context
      ? await makeAssembly(assembly, context ?? (await defaultContext()), bundles, validate)
      : shipped<{ files: string[] }>(stackName(assembly));
  return synthesis(files, { assembly, bundles, cached: true, took: Math.round(performance.now() - started) });
};

/** @throws {Error} for an incomplete package */
const shipped = <T>(name: string): T => {
  const stamp = readStamp<T>(name);
  if (!stamp) throw new Error(`${root} is incomplete; install stepform again`);
  return stamp.value;
};

const synthesis = async (files: string[], rest: Omit<Synthesis, 'template' | 'templates'>): Promise<Synthesis> => {
  const templates = await Promise.all(files.map(readTemplate));
  return { template: mergeStacks(...templates.map(({ template }) => template)), templates, ...rest };
};

const make = async ({
  outdir,
  context,
  validate = false,
  tell = () => {},
}: SynthesizeOptions = {}): Promise<Synthesis> => {
  const started = performance.now();
  const assembly = outdir ? resolve(outdir) : join(build, 'assembly');
  const settings = context ?? (await defaultContext());
  const sources = await hashSources();
  const bundles = await cachedBuild('bundles', sources, async () => {
    tell('Building the functions, the page and the runner (only once, until their sources change) …');
    const { bundle } = await import('./bundle.ts');
    // The bundler is a separate process; meanwhile this one loads the CDK.
    const [bundles] = await Promise.all([bundle(root, build), import('#infra/stack/stack.ts')]);
    return bundles;
  });
  const stack = await cachedBuild(stackName(assembly), stackInput(sources, settings, validate), () => {
    tell('Synthesizing the CloudFormation template …');
    return makeAssembly(assembly, settings, bundles.value, validate);
  });
  const cached = bundles.cached && stack.cached;
  const took = Math.round(performance.now() - started);
  if (!cached) tell(`Built in ${(took / 1000).toFixed(1)} s.`);
  return synthesis(stack.value.files, { assembly, bundles: bundles.value, cached, took });
};

const ending = '.template.json';

const readTemplate = async (file: string): Promise<StackTemplate> => ({
  stackName: basename(file, ending),
  file,
  template: JSON.parse(await readFile(file, 'utf8')) as Template,
});

const makeAssembly = async (
  assembly: string,
  context: Record<string, unknown>,
  bundles: Bundles,
  validate: boolean,
): Promise<{ files: string[] }> => {
  const [{ App }, { platformStacks }, { readSettings }, { featureFlags }] = await Promise.all([
    import('aws-cdk-lib/core'),
    import('#infra/stack/stack.ts'),
    import('#infra/settings/settings.ts'),
    import('#infra/stack/feature-flags.ts'),
  ]);
  await removeAssets(assembly);
  const app = new App({
    outdir: assembly,
    context: { ...featureFlags, ...context },
    analyticsReporting: false,
    treeMetadata: false,
    builtinCloudFormationValidation: validate,
  });
  const { data, platform } = platformStacks(app, readSettings(context), bundles);
  const artifacts = app.synth();
  return {
    files: [data, platform].flatMap((stack) =>
      stack ? [artifacts.getStackArtifact(stack.artifactId).templateFullPath] : [],
    ),
  };
};

/**
 * Removes the copies of bundles, because each change of a bundle adds one under another name. Keeps the folder, which may
 * contain the lock of the CDK command line.
 */
const removeAssets = async (assembly: string): Promise<void> => {
  const entries = existsSync(assembly) ? await readdir(assembly) : [];
  const assets = entries.filter((name) => name.startsWith('asset.'));
  await Promise.all(assets.map((name) => rm(join(assembly, name), { recursive: true })));
};

/** The earlier output for the same input, or else the result of `make`. The stamp is written last. */
const cachedBuild = async <T>(
  name: string,
  input: string,
  make: () => Promise<T>,
): Promise<{ value: T; cached: boolean }> => {
  const lock = hashOfLock();
  const before = readStamp<T>(name);
  if (before?.input === input && before.lock === lock && filesOf(before.value).every(existsSync))
    return { value: before.value, cached: true };
  await rm(join(build, `${name}.json`), { force: true });
  const value = await make();
  await writeStamp(name, { input, lock, value });
  return { value, cached: false };
};

/** Every absolute path in a record; the record is invalid if one of these files is gone. */
const filesOf = (value: unknown): string[] => {
  if (typeof value === 'string') return value.startsWith(root) ? [value] : [];
  return value && typeof value === 'object' ? Object.values(value).flatMap(filesOf) : [];
};

const hash = (...parts: (string | Buffer)[]): string => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part).update('\0');
  return sum.digest('hex');
};

/** Versions of all packages that are part of bundles. */
const hashOfLock = (): string => hash(readFileSync(join(root, 'package-lock.json')));

/** Hash of all files that bundles and template are built from; `infra/local` is not among them. */
const hashSources = async (): Promise<string> => {
  const folders = await Promise.all(
    ['infra', 'functions'].map(async (name) => {
      const entries = await readdir(join(root, name), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  const files = folders
    .flat()
    .filter((file) => !file.startsWith(join(root, 'infra/local/')))
    .concat(join(root, 'cdk.json'))
    .sort();
  // Read one after the other: reading 1,600 small files in parallel takes four times as long.
  return hash(...files.flatMap((file) => [relative(root, file), readFileSync(file)]));
};

const stackInput = (sources: string, settings: Record<string, unknown>, validate: boolean): string =>
  hash(sources, JSON.stringify(settingsIn(settings)), String(validate));

/** Name of an assembly's stamp. */
const stackName = (assembly: string): string => `stack-${hash(relative(root, assembly)).slice(0, 8)}`;

/** The command line adds keys that differ from command to command and do not affect the output. */
const settingsIn = (context: Record<string, unknown>): [string, unknown][] =>
  Object.entries(context)
    .filter(([key]) => !key.startsWith('aws:cdk:'))
    .sort(([a], [b]) => (a < b ? -1 : 1));

const defaultContext = async (): Promise<Record<string, unknown>> => {
  const { context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')) as {
    context?: Record<string, unknown>;
  };
  return withoutExistingData(withoutDomains(context ?? {}));
};
