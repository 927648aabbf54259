import { readFile, stat, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { parseExactly } from '#platform/formats/exact-json.ts';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { FileBody } from '#platform/net/transport/http.ts';
import { UnknownPlanFileError } from '#runner/plan-file/errors.ts';
import type { ComparedJson } from '#runner/plan-file/json.ts';
import { PhaseError, TerraformError } from './errors.ts';
import { fromDirectory, type Phase } from './phase.ts';
import { writePlanArchive } from './plan-archive.ts';
import { changesAnything, countChanges, type PlanJson, resourcesAfter } from './plan-json.ts';
import { initialize, prepare } from './prepare.ts';
import type { Prepared } from './prepared.ts';
import { ProviderSchemas } from './provider-schemas.ts';
import { useProviderSets } from './provider-sets.ts';
import type { SchemasJson } from './schemas.ts';
import { writeVariables } from './terraform/variables.ts';
import { sha256Of } from './transfer.ts';
import { maxGenerated, maxPlan } from './workspace/limits.ts';
import { record } from './workspace/record.ts';
import { give, takeFile } from './workspace/tree.ts';

const noSchemas: SchemasJson = { format_version: '1.0' };

/** Exit codes of `terraform plan -detailed-exitcode`. */
const noChanges = 0;
const changes = 2;

/** Flags for the run's options (HCP API: runs, create). */
const operationFlags = ({ job, files }: Phase, prepared: Prepared): string[] => {
  const { isDestroy, refresh, refreshOnly, targetAddrs, replaceAddrs, invokeActionAddrs, allowConfigGeneration } =
    job.operation;
  return [
    ...(isDestroy ? ['-destroy'] : []),
    ...(refresh ? [] : ['-refresh=false']),
    ...(refreshOnly ? ['-refresh-only'] : []),
    ...targetAddrs.map((address) => `-target=${address}`),
    ...replaceAddrs.map((address) => `-replace=${address}`),
    ...(invokeActionAddrs ?? []).map((address) => `-invoke=${address}`),
    ...(allowConfigGeneration ? [`-generate-config-out=${fromDirectory(prepared, files.generated)}`] : []),
  ];
};

/**
 * Arguments of `terraform plan`; writes the files with the values of variables.
 * @throws {PhaseError} for a value that cannot be written
 */
const planning = async (phase: Phase, prepared: Prepared): Promise<string[]> => {
  const { files } = phase;
  const variables = await writeVariables(files.variables, phase.variables(prepared));
  give(files.variables, phase.user.owner);
  return [
    'plan',
    ...phase.flags(prepared),
    '-detailed-exitcode',
    `-out=${files.plan}`,
    ...operationFlags(phase, prepared),
    ...variables.map((path) => `-var-file=${fromDirectory(prepared, path)}`),
  ];
};

const fileBody = async (file: string): Promise<FileBody> => ({ file, size: (await stat(file)).size });

/**
 * Plans: from an empty directory to stored artifacts.
 * @returns the directory, ready for an apply
 * @throws {PhaseError} if Terraform, or a step that it needs, failed
 */
export const plan = async (phase: Phase): Promise<Prepared> => {
  const { files } = phase;
  await phase.identify();
  const prepared = await prepare(phase);
  phase.facts.terraformVersion = prepared.binary.version;
  await initialize(phase, prepared);
  useProviderSets(phase, prepared);
  const command = await planning(phase, prepared);
  record(phase, prepared);
  const { code } = await phase.terraform(prepared, command, 'plan', [noChanges, changes]);
  if (await storeGenerated(phase)) phase.facts.generatedConfiguration = true;
  const completed = code === noChanges || code === changes;
  const failure = new TerraformError(phase.output.failure ?? `terraform plan ended with ${code}.`);
  // An assessment also reads a failed plan: Terraform fails when a condition does not hold.
  if (!completed && !phase.job.operation.assesses) throw failure;
  // Code of the configuration cannot write to this file, so the plan that policies evaluate is the one that is
  // applied.
  if (!takeFile(files.plan, files.kept.plan, { of: phase.user.owner, maxBytes: maxPlan })) {
    throw completed ? new PhaseError('Terraform wrote no plan file.') : failure;
  }
  const json = await store(phase, prepared).catch((error) => {
    throw completed ? error : failure;
  });
  if (phase.job.operation.assesses) await assess(phase, json, completed ? undefined : failure);
  Object.assign(phase.facts, {
    hasChanges: changesAnything(json, phase.job.operation.refreshOnly),
    counts: countChanges(json),
    resourcesAfter: resourcesAfter(json),
  });
  return prepared;
};

/** @throws the plan's failure, unless only a condition does not hold */
const assess = async (phase: Phase, json: PlanJson, failure: Error | undefined): Promise<void> => {
  const { healthIn, isStoppedByCondition } = await import('./health.ts');
  if (failure && !isStoppedByCondition(json)) throw failure;
  phase.facts.health = healthIn(json);
};

/** Called after a failed plan too, so that its author can correct the generated configuration. */
const storeGenerated = async ({ files, user, artifacts, log }: Phase): Promise<boolean> => {
  const generated = files.own('generated.tf');
  try {
    if (!takeFile(files.generated, generated, { of: user.owner, maxBytes: maxGenerated })) return false;
    const body = await fileBody(generated);
    if (body.size === 0) return false;
    await artifacts.put('generated-configuration', body);
    return true;
  } catch (error) {
    log.note(messageOf(error));
    return false;
  }
};

/** Only Terraform's command line needs the schemas, to print the plan; reading them takes seconds. */
const needsSchemas = ({ job }: Phase): boolean => job.structuredOutput && !job.withoutSchemas;

/** Stores the plan as a file and as JSON, each as soon as it is ready. */
const store = async (phase: Phase, prepared: Prepared): Promise<PlanJson> => {
  const { files, artifacts, timings } = phase;
  artifacts.expect(['plan', 'plan-json', 'plan-json-redacted', 'log']);
  // Each file is read once, so that the compared content is the stored content.
  const plan = readFile(files.kept.plan);
  const planUpload = storePlan(phase, prepared, plan);
  const planJson = phase.terraformTo(prepared, ['show', '-json', '-no-color', files.kept.plan], files.planJson, 'show');
  const schemas = new ProviderSchemas(phase, prepared);
  const results = await Promise.allSettled([planUpload, planJson, needsSchemas(phase) ? schemas.begin() : undefined]);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  phase.afterwards.add('provider-schemas', () => writePlanSchemas(files, schemas));
  return timings.measure('upload', async () => {
    const json = await readPlanJson(files.planJson);
    await comparePlan(phase, await plan, json);
    // Serialized again, because programs differ in which of two members with the same name they use.
    const compared = Buffer.from(JSON.stringify(json));
    await Promise.all([artifacts.enclose('plan-json', compared), storeRedacted(phase, json, schemas)]);
    return json;
  });
};

/**
 * Compares the plan's JSON with the plan file, so that policies, run tasks and users see the plan that an apply
 * executes: providers' code ran in the process that printed the JSON and may have changed it (decisions/0148).
 * @throws {PhaseError} if they differ
 */
const comparePlan = async ({ facts, log }: Phase, plan: Buffer, json: ComparedJson): Promise<void> => {
  const [{ difference }, { readPlanFile }] = await Promise.all([
    import('#runner/plan-file/compare.ts'),
    import('#runner/plan-file/plan-file.ts'),
  ]);
  let deviation: string | undefined;
  try {
    deviation = difference(await readPlanFile(plan), json);
  } catch (error) {
    if (!(error instanceof UnknownPlanFileError)) throw error;
    facts.uncompared = `the plan file cannot be compared with its JSON: ${error.message}`;
    log.note(`Policies cannot be evaluated in this run: ${facts.uncompared}.`);
  }
  if (deviation === undefined) return;
  throw new PhaseError(
    `The plan in JSON does not match the plan that would be applied. ${deviation}. A provider or program of this configuration may have changed it.`,
  );
};

/** A large provider's schemas have 20 MB: keep those that the plan uses. */
const writePlanSchemas = async (files: Phase['files'], schemas: ProviderSchemas): Promise<string> => {
  const { planSchemas } = await import('./schemas.ts');
  const plan = await readJson<PlanJson>(files.planJson);
  await writeFile(files.planSchemas, JSON.stringify(planSchemas(plan, await schemas.afterwards(plan))));
  return files.planSchemas;
};

/** @throws {PhaseError} */
const readPlanJson = async (file: string): Promise<PlanJson & ComparedJson> => {
  const { size } = await stat(file);
  if (size > maxPlan)
    throw new PhaseError(`The plan in JSON has ${size} bytes, more than ${maxPlan}: split the configuration.`);
  try {
    return await readJson<PlanJson & ComparedJson>(file);
  } catch (error) {
    throw new PhaseError(`The plan in JSON cannot be read: ${messageOf(error)}.`);
  }
};

const readJson = async <T>(file: string): Promise<T> => parseExactly(await readFile(file, 'utf8')) as T;

const storePlan = async ({ artifacts }: Phase, prepared: Prepared, content: Promise<Buffer>): Promise<void> => {
  const { binary, lockFile } = prepared;
  const plan = await content;
  prepared.planSha256 = await sha256Of(plan);
  await artifacts.put('plan', await writePlanArchive({ plan, lockFile, version: binary.version }));
};

/** A redacted plan above this is stored compressed too: some 2,000 resources of 360 bytes are 20 instead of 700 KB. */
const largeBytes = 100_000;

const storeRedacted = async (phase: Phase, json: PlanJson, schemas: ProviderSchemas): Promise<void> => {
  const { redactPlan } = await import('./redact.ts');
  const shown = needsSchemas(phase) ? await schemas.of(json) : noSchemas;
  const redacted = redactPlan(json, shown, (value) => phase.maskedJson(value));
  const text = Buffer.from(JSON.stringify(redacted));
  const compress = async () => phase.artifacts.enclose('plan-json-redacted-gzip', await promisify(gzip)(text));
  await Promise.all([phase.artifacts.enclose('plan-json-redacted', text), text.length > largeBytes && compress()]);
};
