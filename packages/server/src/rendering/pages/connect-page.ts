// The page of a link by which a person connects an account. In English, as the page that follows it.
import { html } from 'ghtml'
import { page } from './page.ts'

type Field = 'apiKey' | 'username' | 'password'

export interface ConnectPage {
	readonly organization: string
	readonly provider: string
	readonly host: string
	/** What the person gives; empty where the provider asks. */
	readonly fields: readonly Field[]
	/** Proves that the browser that posts the form was shown it. */
	readonly check: string
	/** Why the last try failed. */
	readonly problem?: string | undefined
}

const labels: Readonly<Record<Field, string>> = { apiKey: 'API key', username: 'User name', password: 'Password' }

const field = (name: Field) => html`
<div class="field">
<label for="${name}">${labels[name]}</label>
<input id="${name}" name="${name}" type="${name === 'username' ? 'text' : 'password'}" autocomplete="off" autocapitalize="none" spellcheck="false" required>
</div>`

/** The whole HTML document. */
export function connectPage({ organization, provider, host, fields, check, problem }: ConnectPage): string {
	const title = `Connect your ${provider} account with ${organization}`
	const isAsked = fields.length > 0
	const how = isAsked
		? `What you enter here goes to ${host}, to test it, and is then stored encrypted.`
		: `${provider} will ask you to let Remit in, which ${organization} uses, and then lead you back.`
	return page({
		language: 'en',
		title,
		main: html`
<main class="narrow">
<div class="card message">
<h1>${title}?</h1>
<p>${organization} will read and write the records of your account at ${provider}. ${how}</p>
<p>If you do not know ${organization}, close this page: then nothing is connected.</p>
!${problem === undefined ? '' : html`<p class="problem" role="alert">${problem}</p>`}
<form method="post">
<input type="hidden" name="check" value="${check}">
!${fields.map(field)}
<div class="actions"><button class="button primary">${isAsked ? 'Connect' : `Continue to ${provider}`}</button></div>
</form>
</div>
</main>`,
	})
}
