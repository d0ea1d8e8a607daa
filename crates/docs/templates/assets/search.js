// Search in pages without a server: the order of tools has the rules of crates/search, over the data of search-index.js.
// Left out are words of other languages that the model does not have.
window.toolcribSearch = (index, model) => {
  'use strict';
  const DIMENSIONS = 128, [LISTS, READS, DELETES, CANCELS] = [1, 7, 1 << 5, 1 << 6], ENDS = CANCELS | 1 << 10 | 1 << 22;
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const place = new Map(model.pieces.split(' ').map((piece, at) => [piece, at]));
  const terms = new Map([...index.terms.matchAll(/(\S+) (\d+)/g)].map(([, word, term]) => [word, +term]));
  const stop = new Set(index.stop.split(' ')), weak = new Set(index.weak), polite = new Set(index.polite.split(/\s+/));
  const [scales, numbers] = [new Uint16Array(bytes(model.scales).buffer), new Int8Array(bytes(model.rows).buffer)];
  const [meanings, phraseMeanings, termMeanings] = ['meanings', 'phraseMeanings', 'termMeanings'].map(name => new Int16Array(bytes(index[name]).buffer));
  const phraseStart = index.phrases.reduce((starts, count) => [...starts, starts.at(-1) + count], [0]);
  const termRow = new Map(index.shownTerms.map((term, row) => [term, row]));
  const idf = index.idf.map(weight => weight / 10000), entries = index.nouns.length;
  const names = new Map(index.exact), groupNames = new Map(index.groupNames), [synonyms, foreign] = [index.synonyms, index.foreign].map(all => new Map(all.map(([key, ...rest]) => [key, rest])));
  const has = index.postings.map(flat => new Map(flat.flatMap((entry, at) => at % 2 ? [] : [[entry, flat[at + 1] / 10000]])));

  // Meanings.
  const pieces = word => {
    const rows = [];
    for (let from = 0; from < word.length;) {
      let to = Math.min(word.length, from + 24);
      const piece = () => (from ? '##' : '') + word.slice(from, to);
      while (to > from && !place.has(piece())) to -= 1;
      if (to === from) return [];
      rows.push(place.get(piece()));
      from = to;
    }
    return word.length > 40 || rows.length > 2 && 2 * rows.length > word.length ? [] : rows;
  };
  const vector = word => {
    const sum = new Float64Array(DIMENSIONS);
    for (const row of pieces(word)) for (let at = 0; at < DIMENSIONS; at += 1) sum[at] += numbers[row * DIMENSIONS + at] * scales[row];
    return sum;
  };
  const add = (sum, other) => other.forEach((number, at) => { sum[at] += number; });
  const near = (sum, rows, row) => {
    let [product, square, length] = [0, 0, 0];
    for (let at = 0; at < DIMENSIONS; at += 1) {
      const number = rows[row * DIMENSIONS + at];
      product += sum[at] * number; square += sum[at] * sum[at]; length += number * number;
    }
    return product ? product / Math.sqrt(square * length) : 0;
  };

  // Words, and the actions of verbs.
  const parts = written => written.normalize('NFKD').replace(/\p{M}/gu, '').replace(/ß/g, 'ss').replace(/['’](s|t|re|ve|ll|d|m)\b/g, ' ')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2').replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/(\p{L})(\p{N})/gu, '$1 $2').replace(/(\p{N})(\p{L})/gu, '$1 $2')
    .toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const ENDINGS = [['ies', 'y'], ['es', ''], ['s', ''], ['ing', ''], ['ing', 'e'], ['ed', ''], ['ed', 'e'], ['ting', ''], ['ping', '']];
  const forms = word => [word, ...ENDINGS.filter(([end]) => word.endsWith(end) && word.length - end.length > 2).map(([end, other]) => word.slice(0, -end.length) + other)];
  const termOf = word => terms.get(forms(word).find((form, at) => terms.has(form) || !at && place.has(form)));
  const frames = new Map(index.frames), question = index.question.split(' '), afterHead = new Set(index.afterHead.split(' ')), toldAfter = new Set(index.toldAfter.split(' '));
  const frame = (word, later) => {
    const known = frames.get(word) || [];
    const phrasal = known.filter(([after]) => after && later.slice(0, ['a', 'an'].includes(after) ? 1 : 6).includes(after)).reduce((all, [, actions]) => all | actions, 0);
    const alone = known.find(([after]) => !after);
    return phrasal ? [phrasal, true] : alone ? [alone[1], false] : undefined;
  };
  const plural = word => word.length > 3 && /s$/.test(word) && !/(ss|us|is)$/.test(word);
  const verbs = new Map(index.frames.flatMap(([, all]) => all).map(([, actions, verb]) => [actions & -actions, verb]));
  const request = said => {
    const first = Math.max(said.findIndex(word => !polite.has(word)), 0), asked = said.slice(first);
    let verb = -1, all = 0;
    said.forEach((word, at) => {
      const actions = (frame(word, said.slice(at + 1)) || [0])[0];
      const isWish = !toldAfter.has(said[at - 1]) && (!word.endsWith('ed') || said.slice(0, at).some(other => index.wants.includes(other)));
      all |= said.some(other => index.refusals.includes(other)) || !isWish ? 0 : actions;
      if (verb < 0 && actions && at >= first && at < first + 4) verb = at;
    });
    const [actions, phrasal] = verb < 0 ? [0, false] : frame(said[verb], said.slice(verb + 1));
    const asksWhoMay = said.some((word, at) => word === 'who' && index.may.includes(said[at + 1]));
    const asks = question.some(begin => begin.split('+').every((word, at) => word === asked[at])) && !asked.some(word => /^tools?$/.test(word));
    const who = asked[0] === 'who' && !said.includes('am');
    const wantsList = (!actions || actions & READS) && (actions & LISTS || asksWhoMay || who || ['which', 'any', 'all', 'my', 'our'].some(word => said.includes(word)) || plural(said.at(-1) || ''));
    return { actions, verb, asks, asksWhoMay, wantsList: !!wantsList, ends: !!(all & (DELETES | ENDS)), removes: !!(all & (DELETES | CANCELS)), plain: phrasal ? verbs.get(actions & -actions) : undefined };
  };
  // The place of the thing that a request is about.
  const headOf = (said, verb) => {
    const from = verb + ((frames.get(said[verb]) || []).some(([after]) => after && after === said[verb + 1]) ? 1 : 0);
    const tells = (word, at) => at > from && !stop.has(word), first = said.findIndex(tells);
    if (first < 0) return said.length - 1;
    const end = said.findIndex((word, at) => at >= first && afterHead.has(word));
    return said.slice(0, end < 0 ? said.length : end).findLastIndex(tells);
  };

  // Spelling: the one word of the catalog that is as near.
  const distance = (one, other) => {
    let rows = [[], [...Array(other.length + 1).keys()]];
    for (let i = 1; i <= one.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= other.length; j += 1) {
        row[j] = Math.min(rows[1][j] + 1, row[j - 1] + 1, rows[1][j - 1] + (one[i - 1] !== other[j - 1]));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], rows[0][j - 2] + 1);
      }
      rows = [rows[1], row];
    }
    return rows[1][other.length];
  };
  const own = index.own.split(' ').filter(word => /^\p{L}{4,}$/u.test(word));
  const spelled = word => {
    const allowed = (word.length >= 5) + (word.length >= 9);
    let [best, found] = [allowed + 1, undefined];
    if (allowed) for (const known of own) {
      if (known[0] !== word[0] || Math.abs(known.length - word.length) > allowed) continue;
      const far = distance(word, known);
      if (far < best) [best, found] = [far, known]; else if (far === best) found = undefined;
    }
    return found;
  };

  // A query as units: each word with the terms that may stand for it.
  function read(text) {
    const said = text.split(/\s+/).filter(word => word.length <= 120).slice(0, 400).flatMap(parts).slice(0, 400)
      .map(word => word.replace(/^(who|what|when|where|why)s$/, '$1')).map(word => ({ word, term: termOf(word), stop: stop.has(word) }));
    const telling = said.filter(one => !one.stop), isForeign = 2 * telling.filter(one => one.term !== undefined || weak.has(one.word)).length <= telling.length;
    said.forEach(one => {
      const isKnown = one.stop || one.term !== undefined || weak.has(one.word) || place.has(one.word) || synonyms.has(one.word);
      one.meant = isKnown || isForeign && foreign.has(one.word) ? undefined : spelled(one.word);
    });
    const plainly = said.map(one => one.meant || one.word);
    const wanted = request(plainly), verb = said[wanted.verb];
    const thing = verb && verb.term === undefined && verb.word.startsWith('un') ? termOf(verb.word.slice(2)) : undefined;
    if (thing !== undefined && index.nouns.some((nouns, entry) => nouns.includes(thing) && index.does[entry][0] & DELETES)) { wanted.actions |= DELETES; wanted.ends = wanted.removes = true; }
    const units = [], meaning = new Float64Array(DIMENSIONS);
    const query = { units, meaning, wanted, length: said.length, head: headOf(plainly, wanted.verb), groups: groupsIn(text), contrary: contraries(plainly, wanted, headOf(plainly, wanted.verb)) };
    if (wanted.asksWhoMay) index.people.forEach(word => add(meaning, vector(word)));
    const sense = (senses, term, weight, kind) => {
      const known = senses.find(one => one.term === term);
      if (known) known.weight = Math.max(known.weight, weight); else senses.push({ term, weight, kind });
    };
    said.slice(1).forEach((other, at) => {
      const one = said[at], phrase = synonyms.get(`${one.word} ${other.word}`);
      if (phrase) {
        const senses = [];
        phrase[0].forEach(([term, weight]) => sense(senses, term, weight / 10000, 1));
        phrase[1].forEach(word => add(meaning, vector(word)));
        if (senses.length) units.push({ said: `${one.word} ${other.word}`, weight: 1, topic: 0, senses, sum: new Float64Array(DIMENSIONS), many: true, at, to: at + 2 });
      }
    });
    said.forEach(({ word, term, stop, meant: correct }, at) => {
      let sum = vector(word);
      if (stop || /^\p{N}+$/u.test(word)) return add(meaning, sum);
      const isVerb = wanted.verb === at, plain = isVerb && wanted.plain !== word ? wanted.plain : undefined;
      const isWeak = weak.has(word) || !!plain, weight = isWeak ? 0.45 : 1, again = units.find(unit => !unit.many && unit.said === word);
      if (again) { again.weight = Math.min(Math.max(again.weight, weight) + 0.2, 1.5); return; }
      if (units.length >= 96) return;
      const senses = term === undefined ? [] : [{ term, weight: 1, kind: 0 }];
      const known = synonyms.get(word) || synonyms.get(word.replace(/s$/, ''));
      if (known) {
        known[0].forEach(([term, weight]) => sense(senses, term, weight / 10000, 1));
        known[1].forEach(other => add(sum, vector(other)));
      }
      const other = !word.startsWith('un') ? wanted.removes && !isVerb && `un${word}` : term === undefined && word.length > 4 && word.slice(2);
      if (other && termOf(other) !== undefined) { sense(senses, termOf(other), 0.9, 1); add(sum, vector(other)); }
      let topic = isWeak ? 0.1 : isVerb ? 0.5 : 1;
      const meant = isForeign && term === undefined && !isWeak && !senses.length && foreign.get(word);
      if (meant) {
        topic = 1; sum = vector(meant[0]);
        meant[1].forEach(([term, weight]) => sense(senses, term, weight / 10000, 1));
      }
      if (term === undefined && !isWeak && !senses.length && correct) {
        sum = vector(correct);
        if (termOf(correct) !== undefined) { senses.push({ term: termOf(correct), weight: 0.8, kind: 2 }); topic = 0.8; }
      }
      if (plain) {
        sum = vector(plain);
        if (termOf(plain) !== undefined) senses.push({ term: termOf(plain), weight: 0.9, kind: 1 });
      }
      add(meaning, sum);
      units.push({ said: word, weight, topic, senses, sum, at, to: at + 1 });
    });
    return query;
  }

  const groupsIn = text => {
    const said = text.split(/\s+/).slice(0, 200), bare = said.map(word => word.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase()), found = [];
    for (let at = 1; groupNames.size > 1 && at < said.length; at += 1) {
      if (!['on', 'in', 'at', 'from', 'via', 'with', 'using', 'to'].includes(bare[at - 1]) && !(/^\p{Lu}/u.test(said[at]) && !/[.!?:]$/.test(said[at - 1]))) continue;
      for (let count = 1; count <= 3; count += 1) found.push(groupNames.get(bare.slice(at, at + count).join('')));
    }
    return found;
  };

  const agrees = (wanted, [first, all]) => !wanted || !all ? 0 : wanted & first ? 1 : wanted & READS && first & READS ? 0.6 : wanted & CANCELS && first & DELETES ? 0.5 : wanted & all ? 0.5 : -1;

  const mean = (units, values, weigh) => {
    const all = units.reduce((sum, unit) => sum + weigh(unit), 0);
    return all ? units.reduce((sum, unit, at) => sum + weigh(unit) * values[at], 0) / all : 0;
  };
  const logistic = (values, weights) => 1 / (1 + Math.exp(-values.reduce((sum, value, at) => sum + value * weights[at], 0)));
  // The verbs that do the same and the contrary: to remove a star is not to star.
  const pairs = index.contraries.split('\n').map(line => line.split(':').map(side => side.trim().split(' ')));
  const contraries = (said, { verb, plain, removes }, head) => {
    const sides = word => {
      const found = pairs.flatMap(([one, other]) => [[one, other], [other, one]]).filter(([same]) => forms(word).some(form => same.includes(form)));
      const bare = /^un.../.test(word) ? [word.slice(2)] : [];
      return found.length + bare.length ? [[word, ...found.flatMap(([same]) => same)], [...bare, ...found.flatMap(([, other]) => other)]] : undefined;
    };
    const [same, contrary] = [...plain ? [plain] : [], ...said.slice(Math.max(verb, 0))].map(sides).find(Boolean) || [[], []];
    return [same, removes && said[head] ? [...contrary, said[head]] : contrary].map(words => words.map(termOf).filter(term => term !== undefined));
  };
  const isContrary = ([same, contrary], entry) => contrary.some(term => index.shown[entry].includes(term) && has[term].has(entry) && (!index.nouns[entry].includes(term) || !index.does[entry][0] && index.nouns[entry][0] === term))
    && !same.some(term => has[term].has(entry));
  // Whether any tool fits, by the first five: the values of crates/search/src/confidence.rs.
  const verdict = ({ units, length, wanted, contrary }, found) => {
    const telling = found.slice(0, 5), [first] = telling;
    if (!first) return 'no_match';
    const least = values => units.reduce((least, unit, at) => unit.topic >= 0.6 ? Math.min(least, values[at]) : least, 1);
    const top = units.map((_, at) => Math.max(...telling.map(one => one.units[at]))), most = key => Math.max(...telling.map(one => one[key]));
    const literally = mean(units, first.met.map(met => met >= 0.8 ? 1 : 0), unit => unit.topic), said = Math.log(length + 1);
    const [sure, unsure] = index.sure;
    let fit = logistic([1, first.meaning, most('meaning'), most('phrase'), first.near, mean(units, top, unit => unit.topic), least(top), literally, first.agrees, first.extra, first.head, said, Math.log(entries)], index.matchWeights);
    if (literally > 0.99) fit = Math.max(fit, sure);
    if (fit < index.least) return 'no_match';
    const right = logistic([1, fit, first.meaning, first.phrase, first.near, literally, least(first.units), (telling[1]?.score || 0) - first.score, 0, said], index.hitWeights);
    // A tool that reads does not do what a short request to write asks for; one that deletes another thing, or what is not asked
    // for, needs a look; and one that does the contrary is wrong.
    const writes = wanted.actions && !(wanted.actions & READS) && !wanted.asks;
    const [actions,,, effect] = index.does[first.entry], deletes = actions & DELETES && !(actions & ENDS);
    const isOther = effect === 'destructive' && (first.head < index.sameThing || first.agrees < 0 || deletes && !wanted.removes);
    const isDoubted = isOther || length <= 6 && writes && first.agrees < 0 && effect === 'read' || isContrary(contrary, first.entry);
    return index.least > 0 && (isDoubted || right < unsure) ? 'unsure' : 'match';
  };

  /** The verdict, and the places of the best tools, best first. */
  return (text, most = 50) => {
    const query = read(text), { units, meaning, wanted } = query;
    const identifiers = [text, ...(text.match(/[\p{L}\p{N}_.:\/-]+/gu) || []).filter(word => /[_.:-]|\p{Ll}\p{Lu}/u.test(word.slice(1)))].map(name => name.trim().toLowerCase());
    const whole = parts(text).join(' '), bare = parts(text).filter(word => !index.articles.includes(word)).join(' ');
    const named = [...new Set([...identifiers, names.has(whole) ? whole : bare].flatMap(name => names.get(name) || []))];
    const words = new Float64Array(entries);
    for (const unit of units) {
      const best = new Map();
      for (const { term, weight, kind } of unit.senses) {
        const scale = unit.weight * weight * idf[term];
        if (scale < 0.05 * index.maxIdf && kind) continue;
        has[term].forEach((share, entry) => {
          best.set(entry, Math.max(best.get(entry) || 0, scale * share));
        });
      }
      best.forEach((sum, entry) => { words[entry] += sum; });
    }
    const knows = meaning.some(Boolean), bestWords = Math.max(...words, Number.MIN_VALUE);
    let found = [];
    for (let entry = 0; entry < entries; entry += 1) {
      const close = knows ? Math.max(near(meaning, meanings, entry), 0) : 0;
      if (words[entry] > 0 || close > 0.2) found.push({ entry, words: words[entry], meaning: close });
    }
    const both = one => one.words / bestWords + one.meaning;
    found = found.sort((one, other) => both(other) - both(one) || one.entry - other.entry).slice(0, 100);
    const close = units.map(unit => [...termRow].map(([, row]) => near(unit.sum, termMeanings, row)));
    const row = new Map([...termRow.keys()].map((term, at) => [term, at]));
    for (const one of found) {
      const { entry } = one, nouns = index.nouns[entry];
      one.phrase = 0;
      for (let at = phraseStart[entry]; at < phraseStart[entry + 1]; at += 1) one.phrase = Math.max(one.phrase, near(meaning, phraseMeanings, at));
      const beside = (some, term) => units.reduce((most, unit, at) => some(unit) ? Math.max(most, close[at][row.get(term)], ...unit.senses.filter(sense => sense.term === term).map(sense => sense.weight)) : most, 0);
      one.extra = nouns.reduce((sum, term) => sum + idf[term] / index.maxIdf * (1 - beside(unit => unit.topic > 0 && unit.at !== wanted.verb, term)), 0);
      one.head = nouns.length ? beside(unit => unit.at <= query.head && query.head < unit.to, nouns.at(-1)) : 0;
      one.agrees = agrees(wanted.actions, index.does[entry]);
      one.met = units.map(unit => Math.max(0, ...unit.senses.filter(sense => has[sense.term].has(entry)).map(sense => sense.weight)));
      one.units = one.met.map((met, at) => met >= 0.8 ? met : index.shown[entry].reduce((most, term) => Math.max(most, close[at][row.get(term)]), met));
      one.near = mean(units, one.units, unit => unit.topic > 0.15 ? unit.topic * unit.weight : 0);
    }
    const top = key => Math.max(Number.MIN_VALUE, ...found.map(one => one[key]));
    const [topWords, topMeaning, topPhrase] = [top('words'), Math.max(top('meaning'), 0.2), Math.max(top('phrase'), 0.2)];
    const long = Math.min(Math.max((query.length - 6) / 14, 0), 1);
    for (const one of found) {
      const [words, meaning, phrase] = [one.words / topWords, one.meaning / topMeaning, one.phrase / topPhrase], lists = index.does[one.entry][2], wants = wanted.wantsList ? 1 : 0;
      const group = index.groups[one.entry].some(group => query.groups.includes(group)) ? 1 : 0;
      const features = [words, words * long, meaning, meaning * long, phrase, one.agrees, lists * wants, one.near, group, one.extra * (1 - long), one.head];
      one.score = features.reduce((sum, value, at) => sum + value * index.weights[at], 0);
    }
    found.sort((one, other) => other.score - one.score || one.entry - other.entry);
    // A tool that removes something comes first only where the request asks for that, and one that writes not for a question.
    const first = found.findIndex(one => {
      const [actions,,, effect] = index.does[one.entry];
      const isHarmless = (effect !== 'destructive' || one.agrees > 0) && !(actions & (DELETES | ENDS));
      return (actions & DELETES && !(actions & ENDS) ? wanted.removes : wanted.ends || isHarmless) && (!wanted.asks || effect === 'read' || !actions || actions & READS);
    });
    const best = found[0]?.score;
    if (first > 0) found.unshift(...found.splice(first, 1));
    if (first > 0) found[0].score = Math.max(found[0].score, best);
    const others = found.filter(one => !named.includes(one.entry)), said = named.length ? 'match' : verdict(query, others);
    others.splice(Math.max(most - named.length, 0));
    const hits = said === 'no_match' ? others.filter(one => one.words > 0 || one.meaning >= 0.35) : others;
    return { verdict: said, hits: [...named, ...hits.map(one => one.entry)].slice(0, most) };
  };
};
