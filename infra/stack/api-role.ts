import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

/**
 * Whom API Gateway invokes functions as (its integrations' credentials), in place of a resource policy of each function. Only
 * somebody who may pass this role can have API Gateway use it, which nobody of another account can (IAM: PassRole).
 */
export class ApiRole extends Construct {
  readonly role: iam.Role;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('apigateway.amazonaws.com'),
      description: 'Stepform: API Gateway, invoking the functions behind its APIs',
    });
  }

  /** Apart from the role itself: the functions know the APIs' addresses, and the APIs the role. @returns what stages wait for */
  allow(targets: lambda.IFunction[]): Construct {
    return new iam.Policy(this, 'Invoke', {
      statements: [
        new iam.PolicyStatement({
          actions: ['lambda:InvokeFunction'],
          resources: targets.map(({ functionArn }) => functionArn),
        }),
      ],
      roles: [this.role],
    });
  }
}
