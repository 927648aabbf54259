import { describe, expect, it } from 'vitest';
import { resources, synthesizedMachine, template } from './template.ts';

/** Rules of AWS that no validator knows, each with its source: a deployment into a new account breaks them first. */

describe('a first deployment, in any partition', () => {
  it('has no access log on a WebSocket stage, which needs a role that new accounts lack (aws-cdk #33977)', () => {
    const sockets = resources('AWS::ApiGatewayV2::Api').filter(
      ({ Properties }) => Properties.ProtocolType === 'WEBSOCKET',
    );
    expect(sockets).toHaveLength(1);
    const stages = resources('AWS::ApiGatewayV2::Stage').filter(
      ({ Properties }) => (Properties.ApiId as { Ref: string }).Ref === sockets[0]?.id,
    );
    expect(stages.map(({ Properties }) => Properties.AccessLogSettings)).toEqual([undefined]);
    expect(resources('AWS::ApiGateway::Account')).toEqual([]);
  });

  it('names no partition (aws-cdk #4597)', () => {
    expect(JSON.stringify(template).match(/.{40}arn:aws[:-].{40}/g)).toBeNull();
    expect(JSON.stringify(synthesizedMachine())).toContain(':states:::lambda:invoke.waitForTaskToken');
  });

  it('names log groups of log delivery below /aws/vendedlogs, apart for each stack (aws-cdk #28900)', () => {
    const destinations = [
      ...resources('AWS::ApiGatewayV2::Stage').map(({ Properties }) =>
        JSON.stringify(Properties.AccessLogSettings ?? ''),
      ),
      ...resources('AWS::StepFunctions::StateMachine').map(({ Properties }) =>
        JSON.stringify(Properties.LoggingConfiguration),
      ),
    ];
    const groups = resources('AWS::Logs::LogGroup').filter(({ id }) =>
      destinations.some((text) => text.includes(`"${id}"`)),
    );
    expect(groups).toHaveLength(3);
    for (const { Properties } of groups) {
      const name = JSON.stringify(Properties.LogGroupName);
      expect(name).toContain('/aws/vendedlogs/');
      expect(name).toContain('{"Ref":"AWS::StackId"}');
    }
  });

  it('has a data key that can have replicas in other regions (KMS: a single-region key never can)', () => {
    const keys = resources('AWS::KMS::Key').filter(({ id }) => id.startsWith('Storage'));
    expect(keys.map(({ Properties }) => Properties.MultiRegion)).toEqual([true]);
  });
});
