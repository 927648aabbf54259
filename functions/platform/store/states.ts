import { SFNClient } from '@aws-sdk/client-sfn';
import { local, type Services } from './services.ts';

/** Step Functions. */
export const states: Services['states'] = local?.states ?? new SFNClient({});
