import * as kms from 'aws-cdk-lib/aws-kms';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';

/**
 * The keys that sign and verify workload identity tokens (decisions/0011): the first one signs, all of them are
 * published.
 */
export class IdentityKeys extends Construct {
  readonly signing: kms.Key;
  readonly all: readonly kms.Key[];

  constructor(scope: Construct, id: string, { identityKeys }: Settings) {
    super(scope, id);
    this.all = identityKeys.map(
      (name) =>
        new kms.Key(this, `Key${name}`, {
          description: 'Stepform: signs workload identity tokens',
          keySpec: kms.KeySpec.RSA_2048,
          keyUsage: kms.KeyUsage.SIGN_VERIFY,
          // It encrypts nothing, and tokens live a day at most: a key that is no longer named can be deleted.
          removalPolicy: RemovalPolicy.DESTROY,
          pendingWindow: Duration.days(7),
        }),
    );
    this.signing = this.all[0] as kms.Key;
  }
}
