import type { Message } from '#platform/text/terraform-json.ts';

/** A resource found by `terraform query` (Terraform: machine-readable output, `list_resource_found`). */
export interface FoundResource {
  /** Address of the list block: `list.aws_instance.all`. */
  list: string;
  type: string;
  name: string;
  identity: [name: string, value: string][];
  /** Generated configuration with its import block; empty without one. */
  configuration: string;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const foundIn = (message: Message): FoundResource | undefined => {
  if (message.type !== 'list_resource_found') return undefined;
  const resource = (message as { list_resource_found?: Record<string, unknown> }).list_resource_found;
  if (typeof resource !== 'object' || resource === null) return undefined;
  const identity = typeof resource.identity === 'object' && resource.identity !== null ? resource.identity : {};
  return {
    list: textOf(resource.address),
    type: textOf(resource.resource_type),
    name: textOf(resource.display_name),
    identity: Object.entries(identity).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    configuration: [resource.config, resource.import_config].map(textOf).filter(Boolean).join('\n\n'),
  };
};
