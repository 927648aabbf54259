import { ECSClient } from '@aws-sdk/client-ecs';
import { local, type Services } from './services.ts';

/** ECS. */
export const tasks: Services['tasks'] = local?.tasks ?? new ECSClient({});
