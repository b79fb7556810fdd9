import { Contacts, CustomFields, Groups, Segments, Suppressions } from './audience.ts';
import { Deliveries, Webhooks } from './endpoints.ts';
import { Imports } from './imports.ts';
import { Domains, Projects } from './projects.ts';
import { Campaigns, Emails, Templates } from './sending.ts';
import { type ClientOptions, type Input, type OperationId, type RequestOptions, Transport } from './transport.ts';
import type { Operations } from './types.ts';

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
  readonly suppressions: Suppressions;
  readonly segments: Segments;
  readonly groups: Groups;
  readonly imports: Imports;
  readonly campaigns: Campaigns;
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
    this.suppressions = new Suppressions(transport);
    this.segments = new Segments(transport);
    this.groups = new Groups(transport);
    this.imports = new Imports(transport);
    this.campaigns = new Campaigns(transport);
    this.templates = new Templates(transport);
    this.domains = new Domains(transport);
    this.webhooks = new Webhooks(transport);
    this.deliveries = new Deliveries(transport);
  }

  /** Runs an operation by its `operationId` and returns the whole body of its answer. */
  call<Id extends OperationId>(id: Id, input: Input = {}, options?: RequestOptions): Promise<Operations[Id]['reply']> {
    return this.#transport.call(id, input, options);
  }
}
