import type { Check } from './check.ts';
import { cancel } from './checks/cancel.ts';
import { containerStopped } from './checks/container-stopped.ts';
import { copies } from './checks/copies.ts';
import { drift } from './checks/drift.ts';
import { environmentLog } from './checks/environment-log.ts';
import { executionStopped } from './checks/execution-stopped.ts';
import { isolation } from './checks/isolation.ts';
import { largeState } from './checks/large-state.ts';
import { organization } from './checks/organization.ts';
import { policy } from './checks/policy.ts';
import { priceList } from './checks/price-list.ts';
import { providerCache } from './checks/provider-cache.ts';
import { quotas } from './checks/quotas.ts';
import { restoreDrill } from './checks/restore-drill.ts';
import { rights } from './checks/rights.ts';
import { run } from './checks/run.ts';
import { s3Event } from './checks/s3-event.ts';
import { sealedVariable } from './checks/sealed-variable.ts';
import { signedRequests } from './checks/signed-requests.ts';
import { socketUpgrade } from './checks/socket-upgrade.ts';
import { stack } from './checks/stack.ts';
import { sweep } from './checks/sweep.ts';
import { uploadChecksum } from './checks/upload-checksum.ts';
import { warmConfirmation } from './checks/warm-confirmation.ts';
import { workloadIdentity } from './checks/workload-identity.ts';

/** Need no organization; performed first, one after another. */
export const outside: Check[] = [socketUpgrade, stack, drift, copies, quotas, rights, uploadChecksum];

/** Need {@link organization}; five at a time, slow ones first. */
export const inside: Check[] = [
  s3Event,
  run,
  environmentLog,
  warmConfirmation,
  cancel,
  containerStopped,
  executionStopped,
  policy,
  priceList,
  providerCache,
  signedRequests,
  sealedVariable,
  workloadIdentity,
  isolation,
  largeState,
  sweep,
  restoreDrill,
];

export const checks: Check[] = [...outside, organization, ...inside];
