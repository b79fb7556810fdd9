import { authenticated, builder } from '@postroom/platform';
import { listProjects } from './projects.ts';

const Project = builder.prismaObject('Project', {
  description: 'A workspace with its own contacts, campaigns and keys. Every request acts on exactly one.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Project id: what `X-Project-Id` takes.' }),
    name: t.exposeString('name', { description: 'What people call it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
});

builder.queryField('projects', (t) =>
  t.field({
    type: [Project],
    description: 'The projects the key can act on, newest first.',
    resolve: (_root, _args, context) => listProjects(authenticated(context).projects),
  }),
);
