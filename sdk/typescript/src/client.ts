import { AbTests } from './ab-tests.ts';
import { BulkOperations, Contacts, CustomFields, Events, Groups, Segments, Suppressions } from './audience.ts';
import { Deliveries, Webhooks } from './endpoints.ts';
import { Backtests } from './backtests.ts';
import { Forms } from './forms.ts';
import { Enrollments, Journeys } from './journeys.ts';
import { Imports } from './imports.ts';
import { Domains, Projects } from './projects.ts';
import { Campaigns, Emails, Templates } from './sending.ts';
import {
  type CallArguments,
  type ClientOptions,
  type IdOf,
  type Input,
  type OperationId,
  type OperationRoute,
  Transport,
} from './transport.ts';
import { OPERATIONS, type Operations } from './types.ts';

/**
 * A client of Postroom.
 * @example
 * const postroom = new Postroom({ apiKey: process.env.POSTROOM_API_KEY, baseUrl: 'https://mail.example.com' });
 * for await (const contact of postroom.contacts.list({ suppressed: false })) console.log(contact.email);
 */
export class Postroom {
  readonly projects: Projects;
  readonly emails: Emails;
  readonly contacts: Contacts;
  readonly customFields: CustomFields;
  readonly events: Events;
  readonly suppressions: Suppressions;
  readonly segments: Segments;
  readonly groups: Groups;
  readonly imports: Imports;
  readonly bulkOperations: BulkOperations;
  readonly campaigns: Campaigns;
  readonly abTests: AbTests;
  readonly journeys: Journeys;
  readonly enrollments: Enrollments;
  readonly backtests: Backtests;
  readonly forms: Forms;
  readonly templates: Templates;
  readonly domains: Domains;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.projects = new Projects(transport);
    this.emails = new Emails(transport);
    this.contacts = new Contacts(transport);
    this.customFields = new CustomFields(transport);
    this.events = new Events(transport);
    this.suppressions = new Suppressions(transport);
    this.segments = new Segments(transport);
    this.groups = new Groups(transport);
    this.imports = new Imports(transport);
    this.bulkOperations = new BulkOperations(transport);
    this.campaigns = new Campaigns(transport);
    this.abTests = new AbTests(transport);
    this.journeys = new Journeys(transport);
    this.enrollments = new Enrollments(transport);
    this.backtests = new Backtests(transport);
    this.forms = new Forms(transport);
    this.templates = new Templates(transport);
    this.domains = new Domains(transport);
    this.webhooks = new Webhooks(transport);
    this.deliveries = new Deliveries(transport);
  }

  /**
   * Runs an operation by its `operationId`, or by its method and path, and returns the whole response body.
   * @example
   * const { data } = await postroom.call('GET /v1/contacts/{id}', { path: { id: 'ctc_…' } });
   */
  call<Key extends OperationId | OperationRoute>(
    operation: Key,
    ...[input, options]: CallArguments<IdOf<Key>>
  ): Promise<Operations[IdOf<Key>]['reply']> {
    const id = operation in OPERATIONS ? operation : IDS.get(operation);
    if (id === undefined) throw new TypeError(`Unknown operation: ${operation}.`);
    return this.#transport.call(id as IdOf<Key>, (input ?? {}) as Input, options);
  }
}

/** Operation ids by method and path. */
const IDS: ReadonlyMap<string, string> = new Map(Object.entries(OPERATIONS).map(([id, route]) => [route, id]));
