/* global SwaggerUIBundle */
// Swagger UI has a dark theme, but does not follow the system preference.
const dark = matchMedia('(prefers-color-scheme: dark)');
const dress = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', dress);
dress();

const ui = SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // With all sections open, Swagger UI would remove from the page what is not in view, and browsers could not find text in it.
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  defaultModelRendering: 'model',
  displayRequestDuration: true,
  // A key that is entered stays in this page's memory, and is sent only to this origin.
  persistAuthorization: false,
  validatorUrl: null,
  onComplete: linkSections,
});

/** Links the sections at the top of the page. A link opens its section. */
function linkSections() {
  const nav = document.getElementById('tags');
  const tags = [...document.querySelectorAll('.opblock-tag[data-tag]')].map(({ dataset }) => dataset.tag);
  const links = tags.map((tag) => {
    const link = document.createElement('a');
    link.textContent = tag;
    link.href = `#/${encodeURIComponent(tag)}`;
    link.addEventListener('click', (event) => {
      event.preventDefault();
      ui.layoutActions.show(['operations-tag', tag], true);
      const heading = document.querySelector(`.opblock-tag[data-tag="${CSS.escape(tag)}"]`);
      heading?.scrollIntoView({ behavior: 'smooth' });
    });
    return link;
  });
  nav.replaceChildren(...links);
}
