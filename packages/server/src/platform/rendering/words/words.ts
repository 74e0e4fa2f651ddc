// The words of documents, a table for each language: a table without one of them does not compile. `{name}` stands for what is filled
// in; languages.test.ts checks that each language fills in the same.
import type { InvoiceStatus } from '../../../generated/contract.ts'

/** By plural category of the language (CLDR). */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string }

export interface Words {
	/** Titles. */
	readonly invoice: string
	readonly creditNote: string
	/** Subject of the mail, and title of the page. */
	readonly from: string
	/** As the client sees it: an invoice that is `sent` is open. */
	readonly status: Readonly<Record<InvoiceStatus, string>>
	/** Labels of dates and references. */
	readonly issued: string
	readonly due: string
	readonly servicePeriod: string
	readonly paid: string
	readonly paidBy: string
	readonly paidTo: string
	readonly reference: string
	/** Heads of columns. */
	readonly description: string
	readonly quantity: string
	readonly unitPrice: string
	readonly discount: string
	readonly tax: string
	readonly amount: string
	/** Behind a tax that the price contains. */
	readonly taxIncluded: string
	readonly subtotal: string
	readonly sumOfLines: string
	/** A row of the totals for a tax that is added. */
	readonly taxOn: string
	/** A tax that is contained, behind `includes`. */
	readonly taxOf: string
	readonly includes: string
	readonly total: string
	readonly amountPaid: string
	readonly amountDue: string
	readonly credit: string
	readonly notes: string
	readonly paymentTerms: string
	readonly bankTransfer: string
	readonly account: string
	readonly routingNumber: string
	readonly taxId: string
	readonly vatId: string
	readonly billedTo: string
	readonly payOnline: string
	/** At the foot of the PDF's pages. */
	readonly pageOf: string
	/** Annex. */
	readonly hoursByRate: string
	readonly rate: string
	readonly hours: string
	readonly timesheet: string
	/** Before the sums of a table. */
	readonly sum: string
	readonly date: string
	readonly deliverable: string
	readonly task: string
	/** Description of a line of time without a name. */
	readonly time: string
	readonly mail: {
		readonly viewAndPay: string
		readonly view: string
		readonly moreLines: Plural
		readonly invoiceAttached: string
		readonly creditNoteAttached: string
	}
	readonly page: {
		readonly pay: string
		readonly download: string
		readonly downloadReceipt: string
		readonly items: string
		readonly cancelled: string
		readonly nothingToPay: string
		readonly paidOn: string
		readonly dueOn: string
		readonly back: string
		readonly demo: string
		readonly testMode: string
	}
	readonly testPayment: {
		readonly title: string
		readonly badge: string
		readonly heading: string
		readonly text: string
	}
	/** The pages on which a person connects an account. */
	readonly connect: {
		readonly title: string
		/** What an organization does with the account. */
		readonly scope: string
		readonly byConnection: string
		/** What becomes of what is typed, or follows where the provider asks. */
		readonly typed: string
		readonly asked: string
		readonly unknown: string
		readonly apiKey: string
		readonly username: string
		readonly password: string
		readonly connect: string
		readonly continue: string
		/** Why what was typed is not taken. */
		readonly missing: string
		readonly refused: string
		readonly untested: string
		readonly goTo: string
		readonly results: Readonly<Record<ConnectResult, Message>>
	}
	readonly messages: Readonly<Record<MessageName, Message>>
}

/** What came of connecting an account. An address is what a provider leads back to, a link what a person was sent. */
export type ConnectResult =
	| 'connected'
	| 'denied'
	| 'failed'
	| 'notByLink'
	| 'wrongAddress'
	| 'addressUsed'
	| 'addressExpired'
	| 'linkUsed'
	| 'linkExpired'
	| 'linkExhausted'
	| 'linkGone'
	| 'otherBrowser'

/** The states of links and payments that have a page. */
export type MessageName =
	| 'linkGone'
	| 'paymentReceived'
	| 'paymentConfirmed'
	| 'paymentCancelled'
	| 'paymentFailed'
	| 'nothingToPay'
	| 'wrongMethod'
	| 'failed'
	| 'outcomeUnknown'
	| 'tooManyRequests'

export interface Message {
	readonly title: string
	readonly text: string
	/** Shown as a badge; absent when the title says enough. */
	readonly badge?: string
}
