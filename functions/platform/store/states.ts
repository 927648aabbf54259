import { SFNClient } from '@aws-sdk/client-sfn';
import { requestHandler } from './patience.ts';
import { local, type Services } from './services.ts';

const client = local() ? undefined : new SFNClient({ requestHandler });

/** Step Functions. */
export const states = (): Services['states'] => local()?.states ?? (client as SFNClient);
