import type { Message } from '../../client/text/terraform-json.ts';

/** A resource that `terraform query` has found (Terraform: machine-readable output, `list_resource_found`). */
export interface FoundResource {
  /** Of the list block: `list.aws_instance.all`. */
  list: string;
  type: string;
  name: string;
  identity: [name: string, value: string][];
  /** Configuration for it, with the block that imports it; empty when none was generated. */
  configuration: string;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const foundIn = (message: Message): FoundResource | undefined => {
  if (message.type !== 'list_resource_found') return undefined;
  const found = (message as { list_resource_found?: Record<string, unknown> }).list_resource_found;
  if (typeof found !== 'object' || found === null) return undefined;
  const identity = typeof found.identity === 'object' && found.identity !== null ? found.identity : {};
  return {
    list: textOf(found.address),
    type: textOf(found.resource_type),
    name: textOf(found.display_name),
    identity: Object.entries(identity).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    configuration: [found.config, found.import_config].map(textOf).filter(Boolean).join('\n\n'),
  };
};
