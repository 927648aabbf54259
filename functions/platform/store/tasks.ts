import { ECSClient } from '@aws-sdk/client-ecs';
import { requestHandler } from './patience.ts';
import { local, type Services } from './services.ts';

const client = local() ? undefined : new ECSClient({ requestHandler });

/** ECS. */
export const tasks = (): Services['tasks'] => local()?.tasks ?? (client as ECSClient);
