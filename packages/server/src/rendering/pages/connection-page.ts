// What a person reads who let Remit in at a provider, or did not. In English, since no invoice or organization gives it a language.
import { html } from 'ghtml'
import { page, postButton } from './page.ts'

const texts = {
	connected: ['Connected', 'You can close this page.'],
	denied: ['Not connected', 'The provider did not let Remit in. To try again, begin the connection anew.'],
	denied_by_link: ['Not connected', 'To try again, open the link that you were sent.'],
	failed_by_link: ['Not connected', 'To try again, open the link that you were sent.'],
	failed: ['Not connected', 'The provider gave no access. To try again, begin the connection anew.'],
	unknown: ['Nothing to connect', 'This address is wrong, or a newer one replaced it. Begin the connection anew.'],
	used: ['This address was used', 'It works once. If the connection does not work, begin it anew.'],
	link_used: ['This link was used', 'It works once. To connect another account, ask for a new link.'],
	link_expired: ['This link is too old', 'It worked for an hour. Ask for a new one.'],
	link_exhausted: ['This link was tried too often', 'Ask for a new one.'],
	other_browser: [
		'Open the link again',
		'This page was opened in another browser, or this one keeps no cookies. Nothing is connected.',
	],
	expired: ['This address is too old', 'It worked for ten minutes. Begin the connection anew.'],
} as const

interface Question {
	readonly organization: string
	readonly provider: string
	readonly connection: string
}

/** The whole HTML document that asks the person whom the account is for. `search` is the query of the page. */
export const questionPage = ({ organization, provider, connection }: Question, search: string): string =>
	message(
		`Connect ${provider} with ${organization}?`,
		html`
<p>${organization} will read and write the records of your account at ${provider}, by its connection “${connection}”.</p>
<p>If you do not know ${organization}, close this page: then nothing is connected.</p>
<div class="actions">!${postButton(search, 'Connect')}</div>`,
	)

/** The whole HTML document. `detail` says more, such as the reason. */
export function connectionPage(name: keyof typeof texts, detail = '', returnUrl: string | null = null): string {
	const [title, text] = texts[name]
	const back =
		returnUrl === null
			? ''
			: html`<div class="actions"><a class="button" href="${returnUrl}">Go to ${new URL(returnUrl).host}</a></div>`
	return message(title, html`!${detail ? html`<p>${detail}</p>` : ''}<p>${text}</p>!${back}`)
}

function message(title: string, body: string): string {
	return page({
		language: 'en',
		title,
		main: html`
<main class="narrow">
<div class="card message">
<h1>${title}</h1>
!${body}
</div>
</main>`,
	})
}
