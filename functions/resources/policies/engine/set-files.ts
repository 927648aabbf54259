import { link, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EvaluationRequest, SourceFile } from './engine.ts';
import { mountPoint } from './room.ts';

/**
 * OPA's working directory: everything that it loads, under relative names, so that its errors contain no path of the
 * platform. `files` holds the set and `params.json` its parameters; `annotated` and `data` hold files that are
 * inspected before OPA loads them.
 */

/** Without an input, its policies are only compiled. */
export type Question = Omit<EvaluationRequest, 'input'> & Partial<Pick<EvaluationRequest, 'input'>>;

/** Runs `opa` in the directory. @throws {Error} with OPA's message when it fails */
export type Ask = (...parameters: string[]) => Promise<string>;

const isData = /(^|\/)data\.(json|ya?ml)$/;

/** Whether a data file may define parameters; JSON and YAML can do so in any file. */
const mentionsParameters = ({ path, content }: SourceFile): boolean =>
  isData.test(path) && (content.includes('params') || path.startsWith('params/'));

const writeFiles = async (directory: string, files: SourceFile[]): Promise<void> => {
  for (const { path, content } of files) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { flag: 'wx' });
  }
};

interface Data {
  params?: unknown;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** OPA rejects two documents that define the same value, so the set's parameters replace those in its data. */
const withParameters = (data: Data, parameters: Record<string, string>): Data => ({
  ...data,
  params: { ...(isObject(data.params) ? data.params : {}), ...parameters },
});

interface Inspected {
  annotations?: { annotations?: { schemas?: unknown }; location?: { file?: string; row?: number } }[];
}

/**
 * An annotation can contain a JSON schema whose `$ref` OPA loads from files while compiling.
 * @throws {Error} with the location
 */
const refuseSchemas = (inspected: string): void => {
  const { annotations = [] } = JSON.parse(inspected) as Inspected;
  const found = annotations.find(({ annotations: one }) => one?.schemas !== undefined);
  if (!found) return;
  const { file = '', row = 1 } = found.location ?? {};
  throw new Error(
    `${file.replace(/^annotated\//, '')} line ${row}: schemas in annotations are not available to policies. Remove them from the METADATA comment`,
  );
};

/** @throws {Error} with the necessary change in the set, or OPA's message */
export const layOut = async (
  directory: string,
  { files, parameters, toolVersion, ...question }: Question,
  ask: Ask,
): Promise<void> => {
  await writeFile(join(directory, mountPoint), '');
  const input = join(directory, 'input.json');
  await (question.input ? link(question.input.path, input) : writeFile(input, '{}'));
  const annotated = files.filter(({ path, content }) => path.endsWith('.rego') && content.includes('METADATA'));
  if (annotated.length > 0) {
    await writeFiles(join(directory, 'annotated'), annotated);
    const old = isOld(toolVersion) ? ['--v0-compatible'] : [];
    refuseSchemas(await ask('inspect', '--annotations', '--format', 'json', ...old, 'annotated'));
  }
  let data: Data = {};
  const merges = files.some(mentionsParameters);
  if (merges) {
    const documents = files.filter(({ path }) => isData.test(path));
    await writeFiles(join(directory, 'data'), documents);
    data = JSON.parse(await ask('eval', '--format', 'raw', '--data', 'data', '--', 'data')) as Data;
  }
  await mkdir(join(directory, 'files'));
  await writeFiles(join(directory, 'files'), merges ? files.filter(({ path }) => !isData.test(path)) : files);
  await writeFile(join(directory, 'params.json'), JSON.stringify(withParameters(data, parameters)));
};

/** Rego before 1.0 does not require `if` and `contains`. */
export const isOld = (toolVersion: string): boolean => /^v?0\./.test(toolVersion);
