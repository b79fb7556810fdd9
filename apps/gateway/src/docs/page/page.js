/* global SwaggerUIBundle */
// Swagger UI has a dark theme, but does not follow the system preference.
const dark = matchMedia('(prefers-color-scheme: dark)');
const dress = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', dress);
dress();

SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  defaultModelRendering: 'model',
  displayRequestDuration: true,
  // A key that is entered stays in this page's memory, and is sent only to this origin.
  persistAuthorization: false,
  validatorUrl: null,
  onComplete: linkSections,
});

/** Links the sections at the top of the page, because the reference is long. */
function linkSections() {
  const nav = document.getElementById('tags');
  const headings = [...document.querySelectorAll('.opblock-tag[data-tag]')];
  const links = headings.map((heading) => {
    const link = document.createElement('a');
    link.textContent = heading.dataset.tag;
    link.href = `#/${encodeURIComponent(heading.dataset.tag.replaceAll(' ', '_'))}`;
    link.addEventListener('click', (event) => {
      event.preventDefault();
      heading.scrollIntoView({ behavior: 'smooth' });
    });
    return link;
  });
  nav.replaceChildren(...links);
}
