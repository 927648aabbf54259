import { isObject, type Json, type Plan, type PlannedResource } from './plan.ts';

/** Finds the region of a resource, on which prices depend. Plans have it in several places, or nowhere. */

const pattern = /^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}$/;
const asRegion = (value: unknown): string | undefined =>
  typeof value === 'string' && pattern.test(value) ? value : undefined;

/** `eu-west-1a` → `eu-west-1`; also local and wavelength zones, whose prices are not their region's. */
const regionOfZone = (zone: unknown): string | undefined =>
  typeof zone === 'string' && /^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}[a-z]$/.test(zone) ? zone.slice(0, -1) : undefined;

const regionOfArn = (arn: unknown): string | undefined =>
  typeof arn === 'string' && arn.startsWith('arn:') ? asRegion(arn.split(':', 4)[3]) : undefined;

/** The resource's own `region`: the provider has it in every resource from 6.0 on. */
const ownRegion = (values: Json | undefined): string | undefined =>
  values && (asRegion(values.region) ?? regionOfZone(values.availability_zone) ?? regionOfArn(values.arn));

/** `module.a[0].module.b["x.y"]` → `module.a.module.b`: the address in the configuration. */
export const withoutKeys = (address: string): string => {
  let result = '';
  let inKey = false;
  let inText = false;
  for (let at = 0; at < address.length; at++) {
    const char = address[at];
    if (inText) {
      if (char === '\\') at++;
      else if (char === '"') inText = false;
    } else if (inKey) {
      if (char === '"') inText = true;
      else if (char === ']') inKey = false;
    } else if (char === '[') inKey = true;
    else result += char;
  }
  return result;
};

/** The resources of a configuration, by their addresses in it. */
export const configuredResources = ({ configuration }: Plan): Map<string, Json> => {
  const configurations = new Map<string, Json>();
  const open: [string, unknown][] = [['', configuration.root_module]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [path, module] = next;
    if (!isObject(module)) continue;
    for (const resource of Array.isArray(module.resources) ? module.resources : []) {
      if (isObject(resource)) configurations.set(`${path}${resource.type}.${resource.name}`, resource);
    }
    for (const [name, call] of Object.entries(isObject(module.module_calls) ? module.module_calls : {})) {
      if (isObject(call)) open.push([`${path}module.${name}.`, call.module]);
    }
  }
  return configurations;
};

export const configurationAddress = ({ moduleAddress, type, name }: PlannedResource): string =>
  `${moduleAddress ? `${withoutKeys(moduleAddress)}.` : ''}${type}.${name}`;

/** The value of `var.settings.region`, of the root module. */
const variable = (plan: Plan, reference: string): unknown => {
  const [start, name = '', ...rest] = reference.split('.');
  if (start !== 'var') return undefined;
  let value = plan.variables.get(name);
  for (const step of rest) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
};

const regionOfProvider = (plan: Plan, provider: unknown): string | undefined => {
  const region = isObject(provider) && isObject(provider.expressions) ? provider.expressions.region : undefined;
  if (!isObject(region)) return undefined;
  const constant = asRegion(region.constant_value);
  // Variables of other modules are not in the plan.
  if (constant || !isObject(provider) || provider.module_address || !Array.isArray(region.references)) return constant;
  for (const reference of region.references) {
    const region = asRegion(typeof reference === 'string' ? variable(plan, reference) : undefined);
    if (region) return region;
  }
  return undefined;
};

/** Undefined if the plan does not contain the region; callers then assume their own. */
export const regionFinder = (
  plan: Plan,
  configured: Map<string, Json>,
): ((resource: PlannedResource, values: Json | undefined) => string | undefined) => {
  const providers = isObject(plan.configuration.provider_config) ? plan.configuration.provider_config : {};
  const regions = new Map(Object.entries(providers).map(([key, provider]) => [key, regionOfProvider(plan, provider)]));
  return (resource, values) => {
    const key = configured.get(configurationAddress(resource))?.provider_config_key;
    return (
      ownRegion(values) ??
      (typeof key === 'string' ? regions.get(key) : undefined) ??
      ownRegion(resource.before) ??
      regions.get('aws')
    );
  };
};
