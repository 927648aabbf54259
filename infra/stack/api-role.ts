import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

/**
 * Role with which API Gateway invokes functions (its integrations' credentials), in place of a resource policy per
 * function. Only a principal with iam:PassRole on this role can make API Gateway use it, and no principal of another
 * account can have that (IAM: PassRole).
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

  /**
   * A separate policy: the functions need the APIs' addresses, and the APIs need the role.
   * @returns the dependency of the stages
   */
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
