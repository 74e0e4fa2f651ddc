// The pages on which a person connects an account: the form of a link, the question of whoever comes back from a provider, and what came of it.
import { html } from 'ghtml'
import type { Language } from '../../generated/contract.ts'
import { page, postButton } from '../../platform/rendering/pages/page.ts'
import { fill, wordsOf } from '../../platform/rendering/words/languages.ts'
import type { ConnectResult } from '../../platform/rendering/words/words.ts'

type Field = 'apiKey' | 'username' | 'password'

/** Why the last try failed. */
export interface ConnectProblem {
	readonly name: 'missing' | 'refused' | 'untested'
	/** Says more, in English. */
	readonly detail?: string
}

export interface ConnectPage {
	readonly organization: string
	readonly provider: string
	readonly host: string
	/** What the person gives; empty where the provider asks. */
	readonly fields: readonly Field[]
	/** Proves that the browser that posts the form was shown it. */
	readonly check: string
	/** What the person typed before, and need not type again. */
	readonly username?: string
	readonly problem?: ConnectProblem | undefined
}

/** The page of a link by which a person connects an account: the whole HTML document. */
export function connectPage(
	language: Language,
	{ organization, provider, host, fields, check, username = '', problem }: ConnectPage,
): string {
	const words = wordsOf(language).connect
	const say = (text: string) => fill(text, { organization, provider, host })
	const isAsked = fields.length > 0
	// The one that is to be typed again.
	const first = problem && username !== '' ? 'password' : fields[0]
	const field = (name: Field) => html`
<div class="field">
<label for="${name}">${words[name]}</label>
<input id="${name}" name="${name}" type="${name === 'username' ? 'text' : 'password'}" value="${name === 'username' ? username : ''}"
	autocomplete="off" autocapitalize="none" spellcheck="false" required!${name === first ? ' autofocus' : ''}>
</div>`
	return message(
		language,
		say(words.title),
		html`
<p>${say(words.scope)} ${say(isAsked ? words.typed : words.asked)}</p>
<p>${say(words.unknown)}</p>
!${problem === undefined ? '' : html`<p class="problem" role="alert">${say(words[problem.name])}!${detailOf(problem.detail)}</p>`}
<form method="post">
<input type="hidden" name="check" value="${check}">
!${fields.map(field)}
<div class="actions"><button class="button primary">${isAsked ? words.connect : say(words.continue)}</button></div>
</form>`,
	)
}

const detailOf = (detail = '') => (detail === '' ? '' : html`<br><span lang="en">${detail}</span>`)

interface Question {
	readonly organization: string
	readonly provider: string
	readonly connection: string
}

/** The whole HTML document that asks the person whom the account is for. `search` is the query of the page. */
export function questionPage(language: Language, question: Question, search: string): string {
	const words = wordsOf(language).connect
	const say = (text: string) => fill(text, { ...question })
	return message(
		language,
		say(words.title),
		html`
<p>${say(words.byConnection)}</p>
<p>${say(words.unknown)}</p>
<div class="actions">!${postButton(search, words.connect)}</div>`,
	)
}

interface ResultDetails {
	/** The name of the connection. */
	readonly connection?: string
	/** Why there is none, in English. */
	readonly reason?: string
	readonly returnUrl?: string | null
}

/** What came of it: the whole HTML document. */
export function resultPage(
	language: Language,
	result: ConnectResult,
	{ connection, reason, returnUrl = null }: ResultDetails = {},
): string {
	const words = wordsOf(language).connect
	const { title, text } = words.results[result]
	const back = (url: string) =>
		html`<div class="actions"><a class="button" href="${url}">${fill(words.goTo, { host: new URL(url).host })}</a></div>`
	return message(
		language,
		title,
		html`
!${connection === undefined ? '' : html`<p>${connection}</p>`}
<p>${text}</p>
!${reason === undefined ? '' : html`<p lang="en">${reason}</p>`}
!${returnUrl === null ? '' : back(returnUrl)}`,
	)
}

function message(language: Language, title: string, body: string): string {
	return page({
		language,
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
