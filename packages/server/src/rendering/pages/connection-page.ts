// What a person reads who let Remit in at a provider, or did not. In English, since no invoice or organization gives it a language.
import { html } from 'ghtml'
import { page } from './page.ts'

const texts = {
	connected: ['Connected', 'You can close this page.'],
	denied: ['Not connected', 'The provider did not let Remit in. To try again, begin the connection anew.'],
	failed: ['Not connected', 'The provider gave no access. To try again, begin the connection anew.'],
	unknown: ['Nothing to connect', 'This address is wrong, or a newer one replaced it. Begin the connection anew.'],
	used: ['This address was used', 'It works once. If the connection does not work, begin it anew.'],
	expired: ['This address is too old', 'It worked for ten minutes. Begin the connection anew.'],
} as const

/** The whole HTML document. `detail` says more, such as the reason. */
export function connectionPage(name: keyof typeof texts, detail = ''): string {
	const [title, text] = texts[name]
	return page({
		language: 'en',
		title,
		main: html`
<main class="narrow">
<div class="card message">
<h1>${title}</h1>
!${detail ? html`<p>${detail}</p>` : ''}
<p>${text}</p>
</div>
</main>`,
	})
}
