import { isDeepStrictEqual } from 'node:util';
import { differ } from './difference.ts';
import type { ComparedJson } from './json.ts';
import type { PlanFile } from './plan-file.ts';
import { isUnknownOrSame, sorted } from './same.ts';
import { readValue } from './value.ts';

/** Compares everything in a plan file besides its changes. */

const checkStatuses = ['unknown', 'pass', 'fail', 'error'];

/** Variables that have their default are only in the JSON. */
const compareVariables = ({ variables: planned }: PlanFile, { variables = {}, configuration }: ComparedJson): void => {
  for (const [name, value] of planned) {
    const shown = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (!shown || !isUnknownOrSame(readValue(value), shown.value))
      differ(`variable ${name}`, 'values are not the same');
  }
  const declared = configuration?.root_module?.variables ?? {};
  for (const [name, { value }] of Object.entries(variables))
    if (!planned.has(name) && !isDeepStrictEqual(value ?? null, declared[name]?.default ?? null))
      differ(`variable ${name}`, 'its value is neither in the plan file nor its default');
};

const checkText = (address = '', status = '', messages: unknown[] = []): string =>
  JSON.stringify([address, status, messages]);

const compareChecks = ({ checks: planned }: PlanFile, { checks: shown = [] }: ComparedJson): void => {
  const inFile = planned.flatMap(({ whole, instances }) =>
    [whole, ...instances].map((one) => checkText(one.address, checkStatuses[one.status], one.messages)),
  );
  const inJson = shown.flatMap(({ instances = [], ...whole }) =>
    [whole, ...instances].map(({ address, status, problems = [] }) =>
      checkText(
        address?.to_display,
        status,
        problems.map(({ message }) => message),
      ),
    ),
  );
  if (!isDeepStrictEqual(inFile.sort(), inJson.sort())) differ('checks', 'results of conditions are not the same');
};

const compareRelevant = (file: PlanFile, { relevant_attributes = [] }: ComparedJson): void => {
  const planned = sorted(file.relevant.map(({ resource, path }) => [resource, path]));
  const shown = sorted(relevant_attributes.map(({ resource, attribute }) => [resource, attribute]));
  if (!isDeepStrictEqual(planned, shown)) differ('relevant_attributes', 'they are not the same');
};

const compareOrigin = (file: PlanFile, { terraform_version, timestamp }: ComparedJson): void => {
  if (terraform_version !== undefined && terraform_version !== file.terraformVersion)
    differ('terraform_version', 'it is not the same');
  if (timestamp !== undefined && timestamp !== file.timestamp) differ('timestamp', 'it is not the same');
};

/**
 * Rejects member names that Terraform does not write: some programs treat `Resource_Changes` as `resource_changes`, and
 * use the last of the two.
 */
const compareNames = (json: ComparedJson): void => {
  const changes = [...(json.resource_changes ?? []), ...(json.resource_drift ?? [])];
  for (const one of [json, ...changes, ...changes.map(({ change }) => change)])
    for (const name of Object.keys(one))
      if (!/^[a-z_]+$/.test(name)) differ('the JSON', `it has ${JSON.stringify(name)}, which Terraform does not write`);
};

export const compareContext = (file: PlanFile, json: ComparedJson): void => {
  compareNames(json);
  compareOrigin(file, json);
  compareVariables(file, json);
  compareChecks(file, json);
  compareRelevant(file, json);
};
