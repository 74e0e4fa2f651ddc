import type { Knex } from 'knex'
import { scheduleWalks } from './schedule-walks.ts'

/** It only adds jobs: servers of before leave them to newer ones. */
export const needs = 0

/** Records of before are found by all spellings, too (billing/search/hits/renew-store.ts). */
export const up = (knex: Knex) => scheduleWalks(knex, 'searchTexts')
