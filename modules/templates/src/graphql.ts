import { actorName } from '@postroom/projects';
import {
  NAME_PART,
  atMost,
  authenticated,
  builder,
  callerProject,
  db,
  MAX_NAME_LENGTH,
  NAME,
  Node,
  NOT_EMPTY,
  notNull,
  registerNode,
  relayNames,
  removalMutation,
  rowsQuery,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import { MAX_LENGTH } from './check-body.ts';
import type { ContentProblem } from './problems.ts';
import { checkBody } from './formats.ts';
import {
  createTemplate,
  deleteTemplate,
  discardDraft,
  draftOf,
  getTemplate,
  getVersion,
  listTemplates,
  listVersions,
  publishTemplate,
  restoreVersion,
  updateTemplate,
} from './templates.ts';

const SUBJECT = atMost(MAX_SUBJECT_LENGTH);

const TemplateStatus = builder.enumType('TemplateStatus', {
  description: 'Whether a template is ready to be sent.',
  values: {
    draft: { description: 'A draft.' },
    published: { description: 'Ready to be sent.' },
  },
});

export const ContentFormat = builder.enumType('ContentFormat', {
  description: 'The language of a body.',
  values: {
    html: { description: 'HTML, which is sent unchanged.' },
    mjml: { description: 'MJML, which is compiled to HTML when it is saved.' },
  },
});

const NEWEST_AUTHOR = {
  versions: { orderBy: { number: 'desc' }, take: 1, select: { authorId: true } },
} as const;

const Template = builder.prismaObject('Template', {
  interfaces: [Node],
  description: 'Reusable content; its placeholders may have default values.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Template id.' }),
    name: t.exposeString('name', { description: 'Unique within the project.', ...atMost(MAX_NAME_LENGTH) }),
    subject: t.exposeString('subject', { nullable: true, description: 'The default subject.', ...SUBJECT }),
    body: t.exposeString('body', {
      description:
        'HTML with placeholders such as `{{name|there}}`. Of a published template, the published HTML; see `draft`.',
      ...atMost(MAX_LENGTH.html),
    }),
    format: t.expose('format', { type: ContentFormat, description: 'The language of the body.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML source of the body; null if it was written as HTML.',
      ...atMost(MAX_LENGTH.mjml),
    }),
    status: t.expose('status', { type: TemplateStatus, description: 'Whether it is ready to be sent.' }),
    version: t.exposeInt('version', { description: 'The number of its newest version.' }),
    publishedVersion: t.exposeInt('publishedVersion', {
      nullable: true,
      description: 'The number of the version that is sent; null until it is first published.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    editedById: t.id({
      nullable: true,
      select: NEWEST_AUTHOR,
      description: 'Who saved its newest version, `usr_…` or `key_…`; null if unknown.',
      resolve: ({ versions: [newest] }) => newest?.authorId,
    }),
    editedByName: t.string({
      nullable: true,
      select: NEWEST_AUTHOR,
      description: 'The current name of the user or key; null if it no longer exists.',
      resolve: ({ versions: [newest] }) => actorName(newest?.authorId ?? null),
    }),
  }),
});

const ContentProblem = builder.objectRef<ContentProblem>('ContentProblem').implement({
  description: 'A problem that prevents a body from being sent.',
  fields: (t) => ({
    line: t.exposeInt('line', {
      nullable: true,
      description: 'The line in the source, from 1; null if the problem concerns the whole body.',
    }),
    column: t.exposeInt('column', {
      nullable: true,
      description: 'The column, from 1; null if the problem concerns the line or the whole body.',
    }),
    message: t.exposeString('message', { description: 'The problem.' }),
  }),
});

const ContentCheck = builder.objectRef<{ html: string | null; problems: ContentProblem[] }>('ContentCheck').implement({
  description: 'The result of validating a body without saving it.',
  fields: (t) => ({
    html: t.exposeString('html', {
      nullable: true,
      description: 'The HTML that would be sent, with its placeholders; null if the body is invalid.',
    }),
    problems: t.field({
      type: [ContentProblem],
      description: 'The problems that prevent saving, in order of position.',
      resolve: ({ problems }) => problems,
    }),
  }),
});

const TemplateVersion = builder.prismaObject('TemplateVersion', {
  interfaces: [Node],
  description: 'The content of a template after one save; immutable.',
  select: { id: true, authorId: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Version id.' }),
    number: t.exposeInt('number', { description: 'Counted from 1 in each template.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The default subject.', ...SUBJECT }),
    body: t.exposeString('body', {
      description: 'HTML with placeholders such as `{{name|there}}`.',
      ...atMost(MAX_LENGTH.html),
    }),
    format: t.expose('format', { type: ContentFormat, description: 'The language of the body.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML source of the body; null if it was written as HTML.',
      ...atMost(MAX_LENGTH.mjml),
    }),
    status: t.expose('status', { type: TemplateStatus, description: 'Whether the template was ready to be sent.' }),
    restoredFrom: t.exposeInt('restoredFrom', {
      nullable: true,
      description: 'The number of the version that it restored; null if it was written.',
    }),
    authorId: t.exposeID('authorId', {
      nullable: true,
      description: 'Who saved it, `usr_…` or `key_…`; null for content older than version history.',
    }),
    authorName: t.string({
      nullable: true,
      description: 'The current name of the user or key; null if it no longer exists.',
      ...atMost(MAX_NAME_LENGTH),
      resolve: ({ authorId }) => actorName(authorId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was saved.' }),
  }),
});

builder.prismaObjectField(Template, 'draft', (t) =>
  t.field({
    type: TemplateVersion,
    nullable: true,
    description: 'The newest version, if it is newer than the published one; null if there is nothing to publish.',
    select: { id: true, version: true, publishedVersion: true },
    resolve: (template) => draftOf(template),
  }),
);

registerNode('tpv', 'TemplateVersion', (context, ids) =>
  db.templateVersion.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);
registerNode(
  'tpl',
  'Template',
  (context, ids) => db.template.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT id, name, status, version, published_version AS "publishedVersion", subject, format, body FROM templates
      WHERE id = ANY ($1::text[]) AND project_id = $2`,
  },
);

builder.queryFields((t) => ({
  template: t.prismaField({
    type: Template,
    description: 'A template of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Template id.' }) },
    resolve: (query, _root, { id }, context) => getTemplate(callerProject(context), id, query),
  }),
  templates: t.connection(
    {
      type: Template,
      description: "The project's templates, newest first.",
      args: {
        search: t.arg.string(NAME_PART),
        status: t.arg({ type: TemplateStatus, description: 'Only templates in this state.' }),
      },
      resolve: (_root, { first, after, ...filter }, context, info) =>
        listTemplates(callerProject(context), filter, { first, after }, rowsQuery(context, info)),
    },
    ...relayNames('Template'),
  ),
  templateVersions: t.connection(
    {
      type: TemplateVersion,
      description: 'The versions of a template, newest first: one for each save or publication.',
      args: { id: t.arg.id({ required: true, description: 'Template id.' }) },
      resolve: (_root, { id, first, after }, context, info) =>
        listVersions(callerProject(context), id, { first, after }, rowsQuery(context, info)),
    },
    ...relayNames('TemplateVersion'),
  ),
  templateVersion: t.prismaField({
    type: TemplateVersion,
    description: 'One version of a template; `not_found` if it does not exist.',
    args: {
      id: t.arg.id({ required: true, description: 'Template id.' }),
      versionId: t.arg.id({ required: true, description: 'Version id.' }),
    },
    resolve: (query, _root, { id, versionId }, context) => getVersion(callerProject(context), id, versionId, query),
  }),
  contentCheck: t.field({
    type: ContentCheck,
    description: 'Validates the body of a template or a campaign without saving it.',
    complexity: 50,
    args: {
      body: t.arg.string({ required: true, description: 'HTML or MJML.' }),
      format: t.arg({ type: ContentFormat, required: true, description: 'The language of the body.' }),
    },
    resolve: async (_root, { body, format }, context) => {
      const { body: kept, problems } = await checkBody(callerProject(context), body, format);
      return { html: problems.length === 0 ? kept.html : null, problems };
    },
  }),
}));

const CreateTemplateInput = builder.inputType('CreateTemplateInput', {
  description: 'A new template; it starts as a draft.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique within the project; 1 to 200 characters.', ...NAME }),
    subject: t.string({
      description: 'The default subject; placeholders are allowed.',
      ...SUBJECT,
    }),
    body: t.string({
      required: true,
      description:
        'HTML of at most 500,000 characters, or MJML of at most 256,000, with placeholders such as `{{name|there}}`. HTML has at most 50,000 elements, nested at most 200 deep.',
      ...atMost(MAX_LENGTH.html),
    }),
    format: t.field({ type: ContentFormat, description: 'The language of the body; defaults to HTML.' }),
  }),
});

const UpdateTemplateInput = builder.inputType('UpdateTemplateInput', {
  ...NOT_EMPTY,
  description: 'The fields to change; omitted fields stay unchanged.',
  fields: (t) => ({
    name: t.string({ description: 'A new name, unique within the project.', ...notNull(NAME) }),
    subject: t.string({ description: 'A new subject; null removes it.', ...SUBJECT }),
    body: t.string({ description: 'New HTML, or MJML.', ...notNull(atMost(MAX_LENGTH.html)) }),
    format: t.field({ type: ContentFormat, description: 'The language of the new body; defaults to HTML.' }),
    version: t.int({
      description: 'The version number this edit is based on; `conflict` if the content was modified since.',
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'The `updatedAt` this edit is based on; `conflict` if the content or the name was modified since.',
    }),
  }),
});

const idArg = { required: true, description: 'Template id.' } as const;

builder.mutationFields((t) => ({
  createTemplate: t.prismaField({
    type: Template,
    description: 'Creates a draft. `conflict` when the name is taken.',
    args: { input: t.arg({ type: CreateTemplateInput, required: true, description: 'The template.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { id } = await createTemplate(callerProject(context), authenticated(context).id, input);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  updateTemplate: t.prismaField({
    type: Template,
    description:
      'Changes a template; the new content becomes a new version. Of a published template it is a draft, which is sent once it is published.',
    args: {
      id: t.arg.id(idArg),
      input: t.arg({ type: UpdateTemplateInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateTemplate(callerProject(context), authenticated(context).id, id, input);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  publishTemplate: t.prismaField({
    type: Template,
    description: 'Publishes the newest version of a template, which is sent from then on.',
    args: {
      id: t.arg.id(idArg),
      updatedAt: t.arg({
        type: 'DateTime',
        description:
          'The `updatedAt` of what to publish; `conflict` if it was modified since, so that nothing unseen is published.',
      }),
    },
    resolve: async (query, _root, { id, updatedAt }, context) => {
      await publishTemplate(callerProject(context), authenticated(context).id, id, updatedAt);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  discardTemplateDraft: t.prismaField({
    type: Template,
    description: 'Discards the draft of a published template. `conflict` if it has never been published.',
    args: {
      id: t.arg.id(idArg),
      updatedAt: t.arg({
        type: 'DateTime',
        description:
          'The `updatedAt` of what to discard; `conflict` if it was modified since, so that nothing unseen is discarded.',
      }),
    },
    resolve: async (query, _root, { id, updatedAt }, context) => {
      await discardDraft(callerProject(context), authenticated(context).id, id, updatedAt);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  restoreTemplateVersion: t.prismaField({
    type: Template,
    description: 'Restores the content of a version as a new version; of a published template as a draft.',
    args: { id: t.arg.id(idArg), versionId: t.arg.id({ required: true, description: 'Version id.' }) },
    resolve: async (query, _root, { id, versionId }, context) => {
      await restoreVersion(callerProject(context), authenticated(context).id, id, versionId);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
}));

removalMutation('templateDelete', {
  replaces: 'deleteTemplate',
  description: 'Deletes a template with its versions.',
  id: 'Template id.',
  remove: (context, id) => deleteTemplate(callerProject(context), id),
});
