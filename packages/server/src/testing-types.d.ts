// What `@remit/server/testing` gives. Written by hand, as the compiler would declare all that the server is made of; src/testing.ts must fit.
import type { Remit } from '@remit/sdk'

export interface StartRemitOptions {
	/** Settings of the server, by their names in the environment, which itself is not read. */
	readonly settings?: Readonly<Record<string, string>>
	/** The server's clock, in Unix milliseconds; that of the machine when absent. */
	readonly now?: () => number
	/** The time zone in which the organization's days end; UTC when absent. */
	readonly timeZone?: string
}

/** A server of its own, with an organization and a key for it. */
export interface RunningRemit extends AsyncDisposable {
	readonly url: string
	/** An API key with every scope. */
	readonly key: string
	readonly organizationId: string
	/** A client with this key. */
	readonly remit: Remit
	/** The folder of the server's data; mail becomes .eml files in its folder `mail`. */
	readonly folder: string
	/** Does at once what the server does by itself later: webhooks, mail, what is overdue by the clock. */
	runJobs(): Promise<void>
	/** Another organization, whose records the first one does not see, with a client for it. */
	newOrganization(name?: string): Promise<Pick<RunningRemit, 'organizationId' | 'key' | 'remit'>>
	/** Stops the server, and deletes its data. */
	close(): Promise<void>
}

/** Starts a server on a new database in a temporary folder. */
export declare function startRemit(options?: StartRemitOptions): Promise<RunningRemit>
