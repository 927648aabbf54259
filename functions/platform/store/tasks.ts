import { ECSClient } from '@aws-sdk/client-ecs';
import { local, type Services } from './services.ts';

const client = local() ? undefined : new ECSClient({});

/** ECS. */
export const tasks = (): Services['tasks'] => local()?.tasks ?? (client as ECSClient);
