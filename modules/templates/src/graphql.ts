import { actorName } from '@postroom/projects';
import {
  authenticated,
  builder,
  callerProject,
  db,
  jsonSchema,
  NAME,
  NOT_EMPTY,
  Node,
  registerNode,
  rowsQuery,
  relayNames,
  removalMutation,
} from '@postroom/platform';
import type { ContentProblem } from './problems.ts';
import { checkBody } from './formats.ts';
import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  getVersion,
  listTemplates,
  listVersions,
  publishTemplate,
  restoreVersion,
  updateTemplate,
} from './templates.ts';

const TemplateStatus = builder.enumType('TemplateStatus', {
  description: 'Whether a template is ready to be sent.',
  values: {
    draft: { description: 'Still being written.' },
    published: { description: 'Ready to be sent.' },
  },
});

export const ContentFormat = builder.enumType('ContentFormat', {
  description: 'What a body is written in.',
  values: {
    html: { description: 'HTML, which is sent as it is.' },
    mjml: { description: 'MJML, which is made into HTML when it is saved.' },
  },
});

const NEWEST_AUTHOR = {
  versions: { orderBy: { number: 'desc' }, take: 1, select: { authorId: true } },
} as const;

const Template = builder.prismaObject('Template', {
  interfaces: [Node],
  description: 'Content to send again and again; its placeholders may have a default value.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Template id.' }),
    name: t.exposeString('name', { description: 'Unique within the project.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject to start from.' }),
    body: t.exposeString('body', { description: 'HTML with placeholders such as `{{name|there}}`.' }),
    format: t.expose('format', { type: ContentFormat, description: 'What the body was written in.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML that the body was made from; null when it is HTML as it was written.',
    }),
    status: t.expose('status', { type: TemplateStatus, description: 'Whether it is ready to be sent.' }),
    version: t.exposeInt('version', { description: 'The number of its newest version, which is what it says now.' }),
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
      description: 'What the person or the key is called now; null when they are gone.',
      resolve: ({ versions: [newest] }) => actorName(newest?.authorId ?? null),
    }),
  }),
});

const ContentProblem = builder.objectRef<ContentProblem>('ContentProblem').implement({
  description: 'Something that keeps a body from being sent.',
  fields: (t) => ({
    line: t.exposeInt('line', {
      nullable: true,
      description: 'The line of what was written, from 1; null when it is about the whole.',
    }),
    column: t.exposeInt('column', {
      nullable: true,
      description: 'The column, from 1; null when it is about the line, or about the whole.',
    }),
    message: t.exposeString('message', { description: 'What it is.' }),
  }),
});

const ContentCheck = builder.objectRef<{ html: string | null; flaws: ContentProblem[] }>('ContentCheck').implement({
  description: 'What a body would be if it were saved.',
  fields: (t) => ({
    html: t.exposeString('html', {
      nullable: true,
      description: 'The HTML that would be sent, with its placeholders; null when it could not be saved.',
    }),
    problems: t.field({
      type: [ContentProblem],
      description: 'What keeps it from being saved, by where it stands.',
      resolve: ({ flaws }) => flaws,
    }),
  }),
});

const TemplateVersion = builder.prismaObject('TemplateVersion', {
  interfaces: [Node],
  description: 'What a template said from one save to the next; it never changes.',
  select: { id: true, authorId: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Version id.' }),
    number: t.exposeInt('number', { description: 'Counted from 1 in each template.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject to start from.' }),
    body: t.exposeString('body', { description: 'HTML with placeholders such as `{{name|there}}`.' }),
    format: t.expose('format', { type: ContentFormat, description: 'What the body was written in.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML that the body was made from; null when it is HTML as it was written.',
    }),
    status: t.expose('status', { type: TemplateStatus, description: 'Whether the template was ready to be sent.' }),
    restoredFrom: t.exposeInt('restoredFrom', {
      nullable: true,
      description: 'The number of the version that was restored by it; null when it was written.',
    }),
    authorId: t.exposeID('authorId', {
      nullable: true,
      description: 'Who saved it, `usr_…` or `key_…`; null for what was there before versions were kept.',
    }),
    authorName: t.string({
      nullable: true,
      description: 'What the person or the key is called now; null when they are gone.',
      resolve: ({ authorId }) => actorName(authorId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was saved.' }),
  }),
});

registerNode('tpv', 'TemplateVersion', (context, ids) =>
  db.templateVersion.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);
registerNode('tpl', 'Template', (context, ids) =>
  db.template.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

builder.queryFields((t) => ({
  template: t.prismaField({
    type: Template,
    description: 'A template of the project; `not_found` when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Template id.' }) },
    resolve: (query, _root, { id }, context) => getTemplate(callerProject(context), id, query),
  }),
  templates: t.connection(
    {
      type: Template,
      description: "The project's templates, newest first.",
      resolve: (_root, args, context, info) => listTemplates(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('Template'),
  ),
  templateVersions: t.connection(
    {
      type: TemplateVersion,
      description: 'The versions of a template, newest first: each time it was saved or published.',
      args: { id: t.arg.id({ required: true, description: 'Template id.' }) },
      resolve: (_root, { id, first, after }, context, info) =>
        listVersions(callerProject(context), id, { first, after }, rowsQuery(context, info)),
    },
    ...relayNames('TemplateVersion'),
  ),
  templateVersion: t.prismaField({
    type: TemplateVersion,
    description: 'One version of a template; `not_found` when there is none.',
    args: {
      id: t.arg.id({ required: true, description: 'Template id.' }),
      versionId: t.arg.id({ required: true, description: 'Version id.' }),
    },
    resolve: (query, _root, { id, versionId }, context) => getVersion(callerProject(context), id, versionId, query),
  }),
  contentCheck: t.field({
    type: ContentCheck,
    description: 'Looks at the body of a template or a campaign as saving it would, and keeps nothing.',
    complexity: 50,
    args: {
      body: t.arg.string({ required: true, description: 'HTML, or MJML.' }),
      format: t.arg({ type: ContentFormat, required: true, description: 'What it is written in.' }),
    },
    resolve: async (_root, { body, format }, context) => {
      const { body: kept, flaws } = await checkBody(callerProject(context), body, format);
      return { html: flaws.length === 0 ? kept.html : null, flaws };
    },
  }),
}));

const CreateTemplateInput = builder.inputType('CreateTemplateInput', {
  description: 'A new template; it begins as a draft.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique within the project; 1 to 200 characters.', ...NAME }),
    subject: t.string({
      description: 'The subject to start from; placeholders allowed.',
      ...jsonSchema({ maxLength: 998 }),
    }),
    body: t.string({
      required: true,
      description:
        'HTML of at most 500,000 characters, or MJML of at most 256,000, with placeholders such as `{{name|there}}`. HTML has at most 50,000 elements, nested at most 200 deep.',
    }),
    format: t.field({ type: ContentFormat, description: 'What the body is written in; HTML unless given.' }),
  }),
});

const UpdateTemplateInput = builder.inputType('UpdateTemplateInput', {
  ...NOT_EMPTY,
  description: 'What to change; what is not given stays.',
  fields: (t) => ({
    name: t.string({ description: 'A new name, unique within the project.', ...NAME }),
    subject: t.string({ description: 'A new subject; null removes it.', ...jsonSchema({ maxLength: 998 }) }),
    body: t.string({ description: 'New HTML, or MJML.' }),
    format: t.field({ type: ContentFormat, description: 'What the new body is written in; HTML unless given.' }),
    version: t.int({
      description: 'The number of the version that this was written on; `conflict` when it is not the newest any more.',
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
    description: 'Changes a template; what it says from then on is a new version.',
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
    description: 'Makes a template ready to be sent.',
    args: { id: t.arg.id(idArg) },
    resolve: async (query, _root, { id }, context) => {
      await publishTemplate(callerProject(context), authenticated(context).id, id);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  restoreTemplateVersion: t.prismaField({
    type: Template,
    description: 'Makes a template say again what it said in a version, as a new version; it stays draft or published.',
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
